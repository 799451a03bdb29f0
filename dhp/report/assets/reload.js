"use strict";
// The page of a run that goes on: it is read again while nobody has moved on in it.
setInterval(() => {
  const used = scrollY > 0 || document.querySelector("details[open]") || document.activeElement !== document.body;
  if (!used) location.reload();
}, 10_000);

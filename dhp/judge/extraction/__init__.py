"""Reading a judge's answer: a score on its own scale, or the reason why there is none."""

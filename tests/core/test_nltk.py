"""NLTK's tokenisers without the rest of NLTK."""

import subprocess
import sys

_CODE = """
import sys
from dhp.core.text import sentences, words
text = "Dr. Gray can't come at 5 p.m. today. She's ill."
before = sentences(text), words(text)
assert not [name for name in sys.modules if name.partition(".")[0] in ("nltk", "scipy")], "loads too much"
import nltk
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer
assert nltk.stem.porter.PorterStemmer().stem("running") == "run"
whole = [token for sentence in before[0] for token in NLTKWordTokenizer().tokenize(sentence)]
assert before[1] == [token for token in whole if any(map(str.isalnum, token))]
print(len(before[0]))
"""


def test_tokenising_loads_no_more_of_nltk_than_it_needs_and_leaves_it_whole_for_others() -> None:
    run = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("2\n", "")

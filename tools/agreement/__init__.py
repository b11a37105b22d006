"""Hold the checker against ptxas, statement by statement.

`python -m tools.agreement rows` takes statements made from the rows of the instruction set, under versions
and targets that a row allows and under others, and with --mutate with one change each. `python -m
tools.agreement corpus DIR` changes statements of real files, one change each, and asks for other targets.
`python -m tools.agreement declarations` makes modules of declarations and calls. All print how far the two
agree and every statement on which they don't. `python -m tools.agreement record DIR` does all three, larger,
and keeps the figures and every disagreement, with its reason from reasons.toml, in
bench/results/agreement.json. `python -m tools.agreement inline DIR` judges the inline assembly of libraries,
and with --keep writes bench/results/inline.json. The site shows both in docs/agreement.md. Without a
ptxas on PATH, nvJitLink is asked instead, except about inline assembly.
"""

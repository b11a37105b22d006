"""The arithmetic of PTX on numpy arrays: pure functions, elementwise, exact.

`bits` and `integers` work on unsigned and signed words; `rounding` brings wider numbers into narrower
formats in every rounding mode; `single`, `double` and `half` are the arithmetic of f32, f64 and the 16-bit
formats; `formats` describes the small formats and converts them; `approximate` holds the `.approx`
functions; `exact` is the slow and complete arithmetic that repairs the lanes on which the fast paths can't
be sure.

All functions broadcast, leave their arguments alone, and expect `np.errstate(all="ignore")`.
"""

"""Barriers in shared memory that report, and that several CTAs' threads arrive at, as PTX ISA 9.3 and 9.4 brought them. PTX ISA 9.7.13.15."""

from ptxkit.isa.registry import Chapter

form = Chapter("mbarrier_reports", "9.7.13.15")

SINCE = "9.3 sm_90"
RUBIN = "9.4 sm_107f"
TOGETHER = "multicast::cluster::32b"

# fmt: off
form("mbarrier.init.layout{.shared{::cta}}.b64             [addr], count", "9", layout="layout::v0", addr="in shared", count="u32 1..1048575", since=SINCE)
form("mbarrier.init.layout{.shared{::cta}}.b64             [addr], count", "9", layout="layout::v1", addr="in shared", count="u32 1..511~1048575", since=SINCE)
form("mbarrier.check_layout.layout{.shared{::cta}}.b64     p, [addr]",     "9", layout="layout::v0 layout::v1", addr="in shared", p="pred", since=SINCE)
form("mbarrier.pending_count.layout::v0.b64                count, state",  "17", count="u32", state="u64", since=SINCE)
for wait, hint in (("test_wait", ""), ("try_wait", "{, suspendTimeHint}")):
    given = {"suspendTimeHint": "u32"} if hint else {}
    for parity, state in (("", "state"), (".parity", "phaseParity")):
        for value, known in (("", "u32 0..1"), (", reportValue", "u32 ~0..1")):
            reported: dict[str, str] = {"reportValue": "write b8"} if value else {}
            reported[state] = known if parity else "u64"
            form(f"mbarrier.{wait}{parity}.phase_type::primary{{.sem.scope}}{{.shared{{::cta}}}}.b64  waitComplete{{|reportPredicate}}{value}, [addr], {state}{hint}", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", reportPredicate="pred", since=SINCE, **given, **reported)
    form(f"mbarrier.{wait}.parity.phase_type::conditional{{.sem.scope}}{{.shared{{::cta}}}}.b64  waitComplete, [addr], phaseParity{hint}", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", phaseParity="u32 0..1", since=SINCE, **given)

for counted, section in (("expect_tx", "11"), ("complete_tx", "12")):
    form(f"mbarrier.{counted}{{.relaxed.scope}}{{.shared::cluster}}.{TOGETHER}.b64  [addr], txCount, ctaMask", section, scope="cta cluster", addr="in shared::cluster", txCount="u32 ~0..1048575", ctaMask="u32 0..4294967295", since=RUBIN)
for arrive, section in (("arrive", "13"), ("arrive_drop", "14")):
    for space, given in (("{.shared::cluster}", {"state": "none sink"}), ("", {"state": "u64", "undocumented": f".{TOGETHER}"})):
        form(f"mbarrier.{arrive}{{.sem.scope}}{space}.{TOGETHER}.b64            state, [addr]{{, count}}, ctaMask", section, sem="release relaxed", scope="cta cluster", addr="in shared::cluster", count="braced u32 1..~1048575", ctaMask="u32 0..4294967295", since=RUBIN, **given)
        form(f"mbarrier.{arrive}.expect_tx{{.sem.scope}}{space}.{TOGETHER}.b64  state, [addr], txCount, ctaMask", section, sem="release relaxed", scope="cta cluster", addr="in shared::cluster", txCount="u32 ~0..1048575", ctaMask="u32 0..4294967295", since=RUBIN, **given)
# fmt: on

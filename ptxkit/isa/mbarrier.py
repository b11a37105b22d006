"""Barriers in shared memory. PTX ISA 9.7.13.15."""

from ptxkit.isa.registry import Chapter

form = Chapter("mbarrier", "9.7.13.15")

CTA = {".shared::cta": "7.8"}
ARRIVE = {**CTA, ".sem": "8.0", ".cluster": "8.0 sm_90", ".relaxed": "8.6 sm_90"}
WAIT = {**CTA, ".sem": "8.0", ".cluster": "8.0 sm_90", ".relaxed": "8.6 sm_90"}

# fmt: off
form("mbarrier.init{.shared{::cta}}.b64        [addr], count", "9", addr="in shared", count="u32 1..1048575", since="7.0 sm_80", needs=CTA)
form("mbarrier.inval{.shared{::cta}}.b64       [addr]", "10", addr="in shared", since="7.0 sm_80", needs=CTA)
form("mbarrier.expect_tx{.relaxed.scope}{.space}.b64    [addr], txCount", "11", scope="cta cluster", space="shared shared::cta shared::cluster", addr="in shared", txCount="u32 ~0..1048575", since="8.0 sm_90")
form("mbarrier.complete_tx{.relaxed.scope}{.space}.b64  [addr], txCount", "12", scope="cta cluster", space="shared shared::cta shared::cluster", addr="in shared", txCount="u32 ~0..1048575", since="8.0 sm_90")
form("mbarrier.arrive{.sem.scope}{.shared{::cta}}.b64               state, [addr]{, count}", "13", sem="release relaxed", scope="cta cluster", addr="in shared", state="sink u64", count="braced u32 1..~1048575", since="7.0 sm_80", needs={**ARRIVE, "count": "7.8 sm_90"})
form("mbarrier.arrive{.sem.scope}.shared::cluster.b64               state, [addr]{, count}", "13", sem="release relaxed", scope="cta cluster", addr="in shared::cluster", state="none sink", count="braced u32 1..~1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive.expect_tx{.sem.scope}{.shared{::cta}}.b64     state, [addr], txCount", "13", sem="release relaxed", scope="cta cluster", addr="in shared", state="sink u64", txCount="u32 ~0..1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive.expect_tx{.sem.scope}.shared::cluster.b64     state, [addr], txCount", "13", sem="release relaxed", scope="cta cluster", addr="in shared::cluster", state="none sink", txCount="u32 ~0..1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive.noComplete{.release.cta}{.shared{::cta}}.b64  state, [addr], count", "13", addr="in shared", state="sink u64", count="braced u32 1..~1048575", since="7.0 sm_80", needs={**CTA, ".release": "8.0"})
form("mbarrier.arrive_drop{.sem.scope}{.shared{::cta}}.b64          state, [addr]{, count}", "14", sem="release relaxed", scope="cta cluster", addr="in shared", state="sink u64", count="braced u32 1..~1048575", since="7.0 sm_80", needs={**ARRIVE, "count": "7.8 sm_90"})
form("mbarrier.arrive_drop{.sem.scope}.shared::cluster.b64          state, [addr]{, count}", "14", sem="release relaxed", scope="cta cluster", addr="in shared::cluster", state="none sink", count="braced u32 1..~1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive_drop.expect_tx{.sem.scope}{.shared{::cta}}.b64 state, [addr], txCount", "14", sem="release relaxed", scope="cta cluster", addr="in shared", state="sink u64", txCount="u32 ~0..1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive_drop.expect_tx{.sem.scope}.shared::cluster.b64 state, [addr], txCount", "14", sem="release relaxed", scope="cta cluster", addr="in shared::cluster", state="none sink", txCount="u32 ~0..1048575", since="8.0 sm_90", needs={".relaxed": "8.6"})
form("mbarrier.arrive_drop.noComplete{.release.cta}{.shared{::cta}}.b64  state, [addr], count", "14", addr="in shared", state="sink u64", count="braced u32 1..~1048575", since="7.0 sm_80", needs={**CTA, ".release": "8.0"})
form("cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64          [addr]", "15", addr="in shared", since="7.0 sm_80", needs=CTA)
form("mbarrier.test_wait{.sem.scope}{.shared{::cta}}.b64         waitComplete, [addr], state", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", state="u64", since="7.0 sm_80", needs=WAIT)
form("mbarrier.test_wait.parity{.sem.scope}{.shared{::cta}}.b64  waitComplete, [addr], phaseParity", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", phaseParity="u32 0..1", since="7.1 sm_80", needs=WAIT)
form("mbarrier.try_wait{.sem.scope}{.shared{::cta}}.b64          waitComplete, [addr], state{, suspendTimeHint}", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", state="u64", suspendTimeHint="u32", since="7.8 sm_90", needs=WAIT)
form("mbarrier.try_wait.parity{.sem.scope}{.shared{::cta}}.b64   waitComplete, [addr], phaseParity{, suspendTimeHint}", "16", sem="acquire relaxed", scope="cta cluster", addr="in shared", waitComplete="pred", phaseParity="u32 0..1", suspendTimeHint="u32", since="7.8 sm_90", needs=WAIT)
form("mbarrier.pending_count.b64                 count, state", "17", count="u32", state="u64", since="7.0 sm_80")
# fmt: on

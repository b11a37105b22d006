"""The asynchronous machine: what is in flight, what it signals, when it happens. docs/emulator/asynchrony.md.

How an instruction queues its work. Its reader (registered in `Effects` by its name) says at once what its
program does, and takes its operands:

    program = instruction.scope.program
    program.asynchronous = True
    program.touches("shared", 16)                  # the bytes of its smallest access
    value = instruction.source("b")                # data: undefined bits go where it goes
    size = instruction.checked_source("size")      # decides what happens: undefined bits are P605
    places = AddressResolver(instruction.address("a"), space, 16, instruction.site)

Its step collects, for all lanes that execute it, one `AsyncOperation` and hands it to the queue of the batch:

    issuers = Issuers.of(lane_set, guard)          # rows and lanes of the threads that execute it
    operation = AsyncOperation(
        site, batch, issuers.rows, issuers.lanes,  # one issuing thread an item
        reads=(Region(memory, source, sizes),),   # what each item reads: int64 offsets in a bank, bytes
        writes=(Region(batch.shared, place, sizes),),
        fetch=lambda: load(operation.reads[0]),   # one numpy step: read all sources
        deliver=lambda data: save(operation.writes[0], data, site, batch.launch),  # one: write results
        signal=Transaction(slots, sizes),         # what completion does
    )
    batch.queue.issue(operation)

*Items.* An operation is what one instruction starts for a lane set: `count` items, each with one issuing
thread and one signal. A multicast copy is an item for each destination CTA. `Region.item` says which item an
interval belongs to; left out, interval i is item i's.

*State spaces.* A `Region` is a bank and byte intervals in it. Shared memory is `batch.shared`: CTA number
`c` of the batch (`row // batch.warps_per_cta`) begins at `c * batch.shared.stride`, and the CTAs of a cluster
follow one another in the order of their ranks (`batch.peer(row, rank)` gives another one's number), so a
region reaches any CTA of the cluster. Global memory is `batch.launch.memory`, the offset is the address less
`BASE`. An operation on what no bank holds (tensor memory, registers) leaves its regions empty, and its room
keeps its own account.

*Proxy.* `proxy="async"`: what generic writes left in `reads` must have been covered by `fence.proxy.async`.
`proxy="generic"`: cp.async, st.async.

*Signals.* `Transaction(slots, bytes)`: complete_tx on an mbarrier. `Arrival(slots)`: arrive-on with count 1
(tcgen05.commit). `Membership(groups, index)`: of a group of the issuing thread, which
`batch.queue.groups["cp.async"].join(rows, lanes)` gives, or `["bulk"]`. None: whoever queues it calls
`queue.finish` and `queue.observe` itself (wgmma). `slots` are numbers of mbarriers in `batch.mbarriers`:
`find(issuers, places, site)` turns offsets of `batch.shared` into them, and complains of what is no live
mbarrier; `find_beside` also of one that is not in the destination's CTA.

*Reports.* `validity` is what an operation looks for in its first region of `reads`, which lies in global
memory: items that find it raise the payload report of the mbarrier that they signal, which must be of layout
v1 (`check_reports`).

*Order.* `after` names operations that must be done before this one is (mma before its commit). What
overlaps in flight and is not only read is ASYNC-DST-RACE, unless both reduce (`reduces`) or both are
`strong`. Items of one operation that copy the same bytes to one place, or store equal ones there, are
MULTI-ISSUE, a warning.
"""

"""SecretFlow's SPU as the engine under shares: maintained by others, and in a process of its own.

SPU takes its process down when a peer dies, and wants another numpy than we do. So every party
starts a child, possibly of another Python (`UNSPOKEN_SPU_PYTHON`), and speaks with it over pipes.
The children's traffic goes through the parties' own links (`tunnel`): identities stay pinned, the
ledger counts every byte, and a party that is lost ends the run as in every other mode.

Two parties run CHEETAH (semi-honest; lattices and oblivious transfer), three run ABY3 (semi-honest,
any one of the three). SPU's default between two, SEMI2K, lets one party gather the others' seeds,
and SECURENN compares wrongly now and then: neither can be asked for.
"""

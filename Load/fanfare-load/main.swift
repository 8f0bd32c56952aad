import FanfareLoop
@preconcurrency import Glibc

/// A function, not top-level code: callbacks from libuv must not belong to the main actor.
private func run() -> Int32 { LoadCommand.run(Array(CommandLine.arguments.dropFirst())) }

FileLimit.raise()
exit(run())

import FanfareLoop
import Glibc

// Before a file is opened: it would get the number of a stream that is missing, and what goes to that.
StandardStreams.fill()
// A connection is a file, and there may be 64 of them for each app.
FileLimit.raise()
// Top-level code belongs to the main actor. The command does not, so that no callback it makes is tied to the main thread.
exit(FanfareCommand.run(Array(CommandLine.arguments.dropFirst())).rawValue)

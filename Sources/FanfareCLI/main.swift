import FanfareLoop
import Glibc

// The missing standard streams are filled before any file is opened: a file would get a missing
// stream's number, and with it that stream's output.
StandardStreams.fill()
// Each connection is a file, and an app may have 64 of them.
FileLimit.raise()
// Top-level code belongs to the main actor. The command does not, so none of its callbacks is tied to the main thread.
exit(FanfareCommand.run(Array(CommandLine.arguments.dropFirst())).rawValue)

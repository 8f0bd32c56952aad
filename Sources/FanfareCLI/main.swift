import Glibc

// Top-level code belongs to the main actor. The command does not, so that no callback it makes is tied to the main thread.
exit(FanfareCommand.run(Array(CommandLine.arguments.dropFirst())).rawValue)

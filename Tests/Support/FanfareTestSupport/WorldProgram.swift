import Foundation

/// A program that plays worlds, as its command line sees it: its name, its usage and its options.
package struct WorldProgram: Sendable {
    package struct Options: Sendable {
        /// Options with a number.
        let numbers: Set<String>
        /// Options without a value.
        let switches: Set<String>
        /// Names that an option takes, of which it may come with several.
        let names: [String: [String]]

        package init(numbers: Set<String>, switches: Set<String>, names: [String: [String]] = [:]) {
            self.numbers = numbers
            self.switches = switches
            self.names = names
        }
    }

    package let name: String
    package let usage: String
    package let options: Options

    package init(name: String, usage: String, options: Options) {
        self.name = name
        self.usage = usage
        self.options = options
    }

    /// Reads the arguments of the process, which a fault ends, and a question for the usage.
    package func read() -> WorldArguments {
        do throws(WorldArguments.Fault) {
            let arguments = try WorldArguments(CommandLine.arguments.dropFirst(), options)
            guard arguments.asksForUsage else { return arguments }
        } catch {
            refuse(error.text)
        }
        print(usage)
        exit(0)
    }

    package func refuse(_ problem: String) -> Never {
        FileHandle.standardError.write(Data("\(name): \(problem)\n\(usage)\n".utf8))
        exit(2)
    }
}

/// Arguments of a `WorldProgram`.
package struct WorldArguments: Sendable {
    /// A fault in arguments, in one line for people.
    package struct Fault: Error, Equatable {
        package let text: String
    }

    private var numbers: [String: UInt64] = [:]
    private var switches: Set<String> = []
    private var names: [String: [String]] = [:]
    /// Is `true` if an argument asks for the usage. No argument behind it has been read.
    package private(set) var asksForUsage = false

    package init(_ arguments: some Sequence<String>, _ options: WorldProgram.Options) throws(Fault) {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            if option == "--help" || option == "-h" {
                asksForUsage = true
                return
            }
            if options.switches.contains(option) {
                switches.insert(option)
            } else if options.numbers.contains(option) {
                numbers[option] = try WorldArguments.number(of: option, rest.popFirst())
            } else if let known = options.names[option] {
                guard let name = rest.popFirst(), known.contains(name) else {
                    throw Fault(text: "\(option) needs one of \(known.joined(separator: ", "))")
                }
                names[option, default: []].append(name)
            } else {
                throw Fault(text: "unknown option \(option)")
            }
        }
    }

    private static func number(of option: String, _ argument: String?) throws(Fault) -> UInt64 {
        // The limits keep sums within 64 bits.
        let most: UInt64 = option == "--seed" ? 1 << 62 : 1 << 40
        guard let argument, let value = UInt64(argument), value <= most else {
            throw Fault(text: "\(option) needs a number up to \(most)")
        }
        if value == 0, option != "--seed" { throw Fault(text: "\(option) must be at least 1") }
        return value
    }

    package func number(_ option: String) -> UInt64? { numbers[option] }
    package func has(_ option: String) -> Bool { switches.contains(option) }
    package func names(_ option: String) -> [String] { names[option] ?? [] }

    /// Seeds of the worlds: `--seed` is the first one, and `--seeds` their number.
    package var seeds: Range<UInt64> {
        let first = numbers["--seed"] ?? 1
        return first..<first + (numbers["--seeds"] ?? 50)
    }
}

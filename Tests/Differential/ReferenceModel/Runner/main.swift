import Glibc
import ReferenceModel

// `fanfare-model [SEEDS [FIRST]]`: plays random feeds to the decision core and to the reference model. Exits with 1 when they differ.
let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let count = arguments.first ?? 10_000
let first = arguments.count > 1 ? arguments[1] : 1
if let fault = Judgement.firstFault(seeds: first..<(first &+ count)) {
    print(fault, terminator: "")
    exit(1)
}
print("\(count) feeds from seed \(first): the decision core and the reference model agree")

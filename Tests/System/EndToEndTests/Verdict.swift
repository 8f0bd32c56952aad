import Foundation

/// The verdict of `delivery-judge` on a run.
struct Verdict: Decodable {
    struct Tokens: Decodable { let live, dead: Int }
    let tokens: Tokens
    let unanswered, allowedRepeats, repeatsOfReturned: Int

    init(_ end: Program.End) throws {
        guard let line = end.output.split(separator: "\n").last else { throw Failure("no verdict; \(end.errors)") }
        self = try JSONDecoder().decode(Verdict.self, from: Data(line.utf8))
    }
}

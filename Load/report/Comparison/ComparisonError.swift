/// Reason why results cannot be compared, in one sentence.
package struct ComparisonError: Error, Hashable, CustomStringConvertible {
    package let description: String
}

/// A run that cannot begin, with the reason in one line for people.
package struct LaboratoryError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

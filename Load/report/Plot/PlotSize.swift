/// A picture's size in pixels, in which its letters are legible.
package struct PlotSize: Sendable {
    package let width: Int
    package let height: Int
    /// For windows and paper.
    package static let wide = PlotSize(width: 760, height: 300)
    /// For a phone.
    package static let narrow = PlotSize(width: 340, height: 300)
}

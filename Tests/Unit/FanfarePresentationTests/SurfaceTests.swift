import FanfareModel
import Testing

@testable import FanfarePresentation

/// The published sizes, and where an activity is shown.
@Suite struct SurfaceTests {
    @Test func phonesHaveThePublishedSizes() {
        #expect(Device.small.compactSide == 52.33)
        #expect(Device.large.compactSide == 62.33)
        #expect(Device.islandHeight == 36.67)
        #expect(Device.minimalWidths == 36.67...45)
        #expect(Device.small.width == 371)
        #expect(Device.large.width == 408)
        #expect(Device.cardHeights == 84...160)
        #expect(Device.small.islandWidth == 230)
        #expect(Device.large.islandWidth == 250)
        #expect(Device.islandRadius == 44)
        #expect(Device.margin == 14)
    }

    @Test func padsWatchesAndCarsHaveThePublishedSizes() {
        #expect(Device.pads.map(\.width) == [500, 425, 425, 425, 425])
        #expect(Device.watches.map(\.width) == [152, 165, 173, 184, 191])
        #expect(Device.watches.map(\.height) == [69.5, 72.5, 76.5, 80.5, 81.5])
        #expect(Set(Device.cars.map { [$0.width, $0.height] }) == [[240, 78], [240, 100], [170, 78]])
    }

    /// Both islands have the same camera, which nobody publishes: it follows from the sizes that are.
    @Test func theCameraIsAsWideOnEachPhone() {
        #expect(abs(Device.small.cameraWidth - Device.large.cameraWidth) < 0.001)
    }

    @Test func unpublishedFiguresOfAPlaceAreMarkedAsEstimates() {
        for surface in Device.all.flatMap(\.surfaces) {
            #expect(!surface.estimates.isEmpty)
            if surface.appearance == .night { #expect(surface.estimates.contains("tint")) }
            if surface.appearance == .alwaysOn { #expect(surface.estimates.contains("dimming")) }
        }
    }

    @Test func anEndedActivityStaysOnTheLockScreenOnly() throws {
        let studio = try Studio(Studio.template())
        let content = studio.content(["name": "A"], isOver: true)
        let shown = Set(
            Device.all.flatMap(\.surfaces).map(\.kind).filter { studio.scene(of: content, $0) != nil })
        #expect(shown == [.lockScreen, .standBy, .standByMinimal, .smartStack, .menuBar])
    }
}

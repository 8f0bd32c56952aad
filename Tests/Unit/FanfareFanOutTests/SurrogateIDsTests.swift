import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SurrogateIDsTests {
    @Test func eachSurrogateIsNewUntilItIsRemoved() {
        var ids = SurrogateIDs()
        let given = (0..<1000).map { _ in ids.add { _ in false } }
        #expect(Set(given).count == 1000 && given.allSatisfy { ids.contains($0) })
        for id in given.prefix(500) { ids.remove(id) }
        #expect(given.prefix(500).allSatisfy { !ids.contains($0) } && given.dropFirst(500).allSatisfy(ids.contains))
        let later = (0..<1000).map { _ in ids.add { _ in false } }
        #expect(Set(given + later).count == 2000)
    }

    @Test func anIDThatAnActivityHasIsNotGiven() {
        var (ids, others) = (SurrogateIDs(), SurrogateIDs())
        let given = (0..<10).map { _ in ids.add { _ in false } }
        let spared = (0..<5).map { _ in others.add { given.prefix(5).contains($0) } }
        #expect(spared == Array(given.suffix(5)))
        #expect(given.prefix(5).allSatisfy { !others.contains($0) })
    }
}

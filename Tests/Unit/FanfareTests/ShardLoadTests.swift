import FanfareFanOut
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct ShardLoadTests {
    private struct Two: InitialActivities {
        func room(at place: ShardPlace) -> Int { 2 }
        func read(at place: ShardPlace, _ take: (ShardCommand) -> Void) {
            for number in 1...2 { take(.unfollow(ActivityID(UInt64(number)))) }
        }
    }

    private let queue = LoadingQueue()

    init() {
        var batch: [ShardCommand] = [.unfollow(ActivityID(3))]
        queue.put(&batch)
        queue.finish()
    }

    private func load(isLater: Bool = false) throws -> (loaded: [ActivityID], room: [Int]) {
        let load = ShardLoad(
            place: ShardPlace(app: 0, index: 0, count: 1), isPinned: false, share: 32, activities: Two(), queue: queue,
            isLater: isLater)
        var (loaded, room): ([ActivityID], [Int]) = ([], [])
        try load.run(
            reserve: { activities, _ in room.append(activities) },
            apply: { if case .unfollow(let id) = $0 { loaded.append(id) } })
        return (loaded, room)
    }

    @Test func aShardLoadsItsActivitiesBeforeThoseOfItsQueue() throws {
        let (loaded, room) = try load()
        #expect(loaded == [ActivityID(1), ActivityID(2), ActivityID(3)] && room == [50, 2])
        #expect(queue.isClosed)
    }

    @Test func aQueueForLaterIsLeftToTheShardsTurns() throws {
        let loaded = try load(isLater: true).loaded
        #expect(loaded == [ActivityID(1), ActivityID(2)])
        #expect(!queue.isClosed && queue.batchCount == 1)
    }

    @Test func aShardOfAnEngineThatCannotBeCreatedLoadsNoMore() {
        queue.abandon()
        #expect(throws: LoadingQueue.Abandoned.self) { try load() }
        #expect(queue.isClosed)
    }
}

import Fanfare
import Testing

struct ReceiptTests {
    @Test func positionsOfEntriesHaveTheOrderOfTheLog() {
        let (first, second) = (Receipt.EntryPosition(9), Receipt.EntryPosition(10))
        #expect(first < second)
        #expect(first != second)
        #expect("\(second)" == "10")
    }

    @Test func aReceiptTellsTheOrderOfAcceptanceFromTheOrderOfTheLog() {
        let early = Receipt(position: 1, durability: .durable, entry: Receipt.EntryPosition(7))
        let late = Receipt(position: 2, durability: .durable, entry: Receipt.EntryPosition(5))
        #expect(early < late)
        #expect(early.entry == Receipt.EntryPosition(7))
    }
}

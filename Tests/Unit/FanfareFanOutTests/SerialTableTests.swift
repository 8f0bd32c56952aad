import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SerialTableTests {
    /// A paused app gets a version that was held after versions with greater serials.
    @Test func aSerialThatComesAfterGreaterOnesIsFoundAndGoes() {
        var table = SerialTable<Int>()
        for serial in [90, 105, 100] as [UInt64] { table.insert(Int(serial), at: serial) }
        let found = table[100]
        let changed: Void? = table.update(100) { $0 += 1 }
        let (removed, left) = (table.remove(100), table.count)
        #expect(found == 100 && changed != nil && removed == 101 && left == 2)
        #expect(table.violation() == nil)
    }

    /// The table agrees with a dictionary: some serials are left out, one stays for ever, a shard's own are far above, and sometimes all go.
    @Test(arguments: UInt64(1)...10) func serialTableAgreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = SerialTable<Int>()
        var known: [UInt64: Int] = [:]
        // All serials ever given, in an order that depends on the seed only.
        var serials: [UInt64] = []
        var next: UInt64 = 1
        var own: UInt64 = 1 << 63
        for step in 0..<2000 {
            switch random.next() % 12 {
            case 0: next += random.next() % 100
            case 1:
                own += 1
                table.insert(step, at: own)
                known[own] = step
                serials.append(own)
            case 2...6:
                next += 1
                table.insert(step, at: next)
                known[next] = step
                serials.append(next)
            case 7 where random.next() % 40 == 0:
                for serial in known.keys { table.remove(serial) }
                known = [:]
            default:
                let serial = serials.dropFirst().randomElement(using: &random) ?? next + 1
                let removed = table.remove(serial)
                #expect(removed == known.removeValue(forKey: serial), "seed \(seed)")
            }
            let asked = random.next() % 2 == 0 ? random.next() % (next + 2) : own
            let found = table.update(asked) { value in
                value += 1
                return value
            }
            if let value = known[asked] { known[asked] = value + 1 }
            #expect(found == known[asked] && table[asked] == known[asked], "seed \(seed)")
            #expect(table.count == known.count)
            guard step % 20 == 0 else { continue }
            let violation = table.violation()
            #expect(violation == nil, "seed \(seed)")
        }
        #expect(Dictionary(uniqueKeysWithValues: table.all.map { ($0.serial, $0.value) }) == known)
    }

    /// One value stays, like a publication whose state was refused for good.
    @Test func aSerialThatStaysHoldsNoRows() {
        var table = SerialTable<Int>()
        for serial in UInt64(1)...100_000 {
            table.insert(1, at: serial)
            if serial > 1 { table.remove(serial) }
            if serial % 10_000 == 0 { #expect(table.room < 2048) }
        }
        #expect(table[1] == 1 && table.count == 1)
        #expect(table.rows.count < 4096)
    }

    @Test func aRowBehindOfWhichSomethingIsKnownIsAViolation() {
        var table = SerialTable<Int>()
        for serial in UInt64(1)...3 { table.insert(1, at: serial) }
        table.head = 1
        let violation = table.violation()
        #expect(violation != nil)
    }
}

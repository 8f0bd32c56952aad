import FanfareModel
import Testing

@Suite struct AbbreviationTests {
    @Test(arguments: [
        ("Leeds United", "LEE"), ("  Leeds\t", "LEE"), ("FC Barcelona", "BAR"), ("1. FC Kaiserslautern", "KAI"),
        ("O'Hara", "OHA"),
        ("Eintracht", "EIN"), ("PSV", "PSV"), ("AZ 67", "AZ"), ("1899 99", "189"), ("Qi", "QI"), (" . ", ""), ("", ""),
        ("1. FC Köln", "KÖL"), ("Ñublense", "ÑUB"),
    ])
    func aNameIsShortenedToLettersOfItsOwnWord(name: String, letters: String) {
        #expect(name.abbreviated(to: 3) == letters)
    }

    /// A name of ASCII is shortened by bytes, any other one by characters.
    @Test func bytesAreShortenedLikeCharacters() {
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &random)
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let alphabet = Array("abzABZ059 .-'\t")
        for _ in 0..<2000 {
            let name = String((0..<next(14)).map { _ in alphabet[next(alphabet.count)] })
            // A word with a digit is not chosen while the name has another word, and the name's first word is chosen if all have one.
            let letters = 1 + next(4)
            let byCharacters = (name + " 9Ä").abbreviated(to: letters)
            guard name.contains(where: { $0 != " " && $0 != "\t" }) else { continue }
            #expect(name.abbreviated(to: letters) == byCharacters, "seed \(seed), \(name)")
        }
    }

    @Test func abbreviationsTellNamesThatBeginAlikeApart() {
        #expect("Manchester City".abbreviated(to: 3, besides: "Manchester United") == "MCI")
        #expect("Manchester United".abbreviated(to: 3, besides: "Manchester City") == "MUN")
        #expect("Leeds United".abbreviated(to: 3, besides: "Manchester City") == "LEE")
    }

    /// Words of the names may begin alike, too.
    @Test(arguments: [
        ("Northspire", "Northsgate", "NOP", "NOG"), ("Team XYZ", "Team ABC", "TXY", "TAB"),
        ("Åsgård", "Åshammar", "ÅSG", "ÅSH"), ("Team North One", "Team North Two", "TON", "TTW"),
        ("Same", "Same", "SAM", "SAM"),
    ]) func abbreviationsTellNamesApartByTheirLetters(one: String, other: String, first: String, second: String) {
        #expect(one.abbreviated(to: 3, besides: other) == first)
        #expect(other.abbreviated(to: 3, besides: one) == second)
    }

    /// The short forms of all built-in match kinds are made by templates or like them.
    @Test func M4_aTemplateTellsHomeAndAwayApart() {
        let template: Template = "{home:3} {away:3}"
        func text(_ home: JSONValue, _ away: JSONValue) -> String {
            template.text(topic: TopicID("t"), state: ["home": home, "away": away])
        }
        #expect(text("Team XYZ", "Team ABC") == "TXY TAB")
        #expect(text("Northspire", "Kestrel Bay") == "NOR KES")
        #expect(template.text(topic: TopicID("t"), state: ["home": "Team XYZ"]) == "TEA ")
        let fact: Template = "{fact.home:3}"
        #expect(fact.text(topic: TopicID("t"), state: ["away": "Team ABC"], fact: ["home": "Team XYZ"]) == "TEA")
    }
}

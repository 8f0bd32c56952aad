import FanfareJSON
import FanfareModel
import Testing

@Suite struct JSONElementTests {
    private func read<Result>(_ text: String, _ body: (JSONElement) -> Result) throws -> Result {
        try JSONParser().parse(Array(text.utf8), body)
    }

    @Test func membersAndElementsComeInTheOrderOfTheDocument() throws {
        let names = try read(#"{"b":{"x":[1,2]},"a":[],"c":"d"}"#) { $0.members.map { $0.name.string } }
        #expect(names == ["b", "a", "c"])
        let numbers = try read(#"[3,[9,9],{"x":9},1]"#) { $0.elements.map(\.integer) }
        #expect(numbers == [3, nil, nil, 1])
    }

    @Test func aValueOfAnotherKindHasNeitherMembersNorElements() throws {
        for text in ["3", "\"text\"", "null", "true", "2.5"] {
            let counts = try read(text) { [$0.members.count { _ in true }, $0.elements.count { _ in true }] }
            #expect(counts == [0, 0], "\(text)")
        }
        let counts = try read(#"{"a":[1]}"#) { root in
            [root.elements.count { _ in true }, root.elements(of: "a").count { _ in true }]
                + [root.members(of: "a").count { _ in true }, root.elements(of: "b").count { _ in true }]
        }
        #expect(counts == [0, 1, 0, 0])
    }

    @Test func theFirstMemberOfANameIsFound() throws {
        let found = try read(#"{"a":1,"ab":2,"a":3}"#) { [$0["a"]?.integer, $0["ab"]?.integer, $0["b"]?.integer] }
        #expect(found == [1, 2, nil])
    }

    @Test(
        arguments: [
            ("0", 0), ("-9223372036854775808", Int64.min), ("9223372036854775807", Int64.max), ("2.0", 2),
            ("2e3", 2000),
            ("9223372036854775808", nil), ("2.5", nil), ("1e300", nil), ("\"2\"", nil), ("true", nil),
        ] as [(String, Int64?)])
    func aWholeNumberIsReadIfItFits(text: String, expected: Int64?) throws {
        let integer = try read(text, \.integer)
        #expect(integer == expected)
    }

    @Test(
        arguments: [
            ("18446744073709551615", "18446744073709551615"), ("-7", "-7"), ("1.5", nil), ("\"1\"", nil),
        ] as [(String, String?)])
    func aWholeNumberOfSixtyFourBitsHasItsDigits(text: String, expected: String?) throws {
        let digits = try read(text, \.digits)
        #expect(digits == expected)
    }

    @Test(arguments: ["", "short", "fifteen letters", "sixteen letters!", "ü🏐 \"quoted\"\n and a long line"])
    func textsAreReadWithoutTheirEscapes(text: String) throws {
        var written: [UInt8] = []
        JSONValue.string(text).write(to: &written)
        let (found, isEqual) = try JSONParser().parse(written) { ($0.string, $0.equals(Array(text.utf8))) }
        #expect(found == text)
        #expect(isEqual)
    }

    @Test func aTextEqualsOnlyItself() throws {
        let equal = try read(#""goal""#) {
            [$0.equals("goal"), $0.equals("goals"), $0.equals("goat"), $0.equals("goa")]
        }
        #expect(equal == [true, false, false, false])
        let other = try read("3") { $0.equals("3") }
        #expect(!other)
    }

    @Test func aTimeIsReadFromATextOnly() throws {
        let times = try read(#"["1970-01-01T00:00:01Z","yesterday",1]"#) { $0.elements.map(\.time) }
        #expect(times == [FeedTime(milliseconds: 1000), nil, nil])
    }

    @Test func aCopyHasEveryKindOfValue() throws {
        let value = try read(#"{"a":[1,-2.5,18446744073709551615,"x",true,false,null],"b":{"c":{}}}"#, \.value)
        #expect(
            value == [
                "a": [1, .double(-2.5), .double(18_446_744_073_709_551_616), "x", true, false, .null], "b": ["c": [:]],
            ])
    }

    @Test(arguments: [3, 64, 65, 300]) func theLastValueOfARepeatedNameIsCopied(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":\($0)" } + ["\"k1\":\"last\""]
        let object = try read("{\(members.joined(separator: ","))}", \.object)
        #expect(object.members.count == count)
        #expect(object["k1"] == "last")
        #expect(object["k2"] == 2)
    }
}

import CFanfareOpenSSL
import FanfareLoop
import Foundation
import ServerTestSupport
import Testing

@Suite struct CryptoTests {
    @Test func signaturesVerifyAndFakesDoNot() throws {
        let key = try ES256PrivateKey.generate()
        let stranger = try ES256PrivateKey.generate()
        let message = Array("header.claims".utf8)
        // Numbers of fewer than 32 bytes come once in 128 signatures or so: their padding must be right too.
        for round in 0..<400 {
            let signature = try key.sign(message + [UInt8(truncatingIfNeeded: round)])
            let isValid = key.publicKey.verify(signature, of: message + [UInt8(truncatingIfNeeded: round)])
            #expect(signature.count == 64 && isValid)
        }
        let signature = try key.sign(message)
        #expect(!stranger.publicKey.verify(signature, of: message))
        #expect(!key.publicKey.verify(signature, of: message + [0]))
        var bent = signature
        bent[10] ^= 1
        #expect(!key.publicKey.verify(bent, of: message))
        for wrong in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(!key.publicKey.verify(wrong, of: message))
        }
    }

    @Test func keysGoThroughPEM() throws {
        let key = try ES256PrivateKey.generate()
        let again = try ES256PrivateKey(pem: key.pem())
        let reader = try ES256PublicKey(pem: key.publicKey.pem())
        #expect(reader.verify(try again.sign([1, 2, 3]), of: [1, 2, 3]))
        #expect(try key.pem().hasPrefix("-----BEGIN PRIVATE KEY-----"))
        #expect("\(key)" == "ES256 private key")
    }

    /// Nobody joins the thread that looks at a key file, so it may be at work while the process exits.
    @Test func keysAreUsableUntilTheProcessIsGone() async {
        await #expect(processExitsWith: .success) {
            // `exit` calls the last handler first, so OpenSSL's has run before this one.
            atexit { _exit((try? ES256PrivateKey.generate()) == nil ? EXIT_FAILURE : EXIT_SUCCESS) }
            // As another library of the program does it, before Fanfare's first use.
            OPENSSL_init_ssl(0, nil)
            _ = try ES256PrivateKey.generate()
            exit(EXIT_FAILURE)
        }
    }

    /// The example of RFC 7515, appendix A.3: key, message and a signature that somebody else made.
    @Test func verifiesTheSignatureOfTheRFC() throws {
        let key = try ES256PublicKey(
            pem: """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
                6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
                -----END PUBLIC KEY-----
                """)
        let message = Array(
            ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9p"
                + "c19yb290Ijp0cnVlfQ").utf8)
        let text = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let signature = try #require(Data(base64Encoded: text + "=="))
        #expect(key.verify(Array(signature), of: message))
    }

    @Test func badKeysAreErrorsThatNameTheFile() throws {
        let certificate = try SelfSignedCertificate(hosts: ["localhost"])
        let other = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----
            """  // Ed25519 (RFC 8410 §10.3)
        for pem in ["", "nonsense", certificate.certificate, other] {
            do throws(LoopError) {
                _ = try ES256PrivateKey(pem: pem, place: "AuthKey.p8")
                Issue.record("accepted: \(pem)")
            } catch {
                #expect(error.kind == .badKey)
                #expect(error.place == "AuthKey.p8")
            }
        }
    }

    @Test func hashesAsThePublishedExamplesDo() {
        // FIPS 180-4's examples, as NIST publishes them.
        #expect(
            sha256(Array("abc".utf8)).map { String(format: "%02x", $0) }.joined()
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            sha256([]).map { String(format: "%02x", $0) }.joined()
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}

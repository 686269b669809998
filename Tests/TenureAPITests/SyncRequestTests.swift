import Foundation
import Testing

@testable import TenureAPI

@Suite struct `the limits of a sync request` {
    @Test func `transactions, renewal infos and the nonce of a sync request each have their own limit`() throws {
        func read(transactions: Int = 0, renewalInfos: Int = 0, nonce: Int = 0) throws(Problem) -> SyncRequest {
            func list(_ count: Int) -> String { (0..<count).map { _ in #""x""# }.joined(separator: ",") }
            let json = """
                {"transactions":[\(list(transactions))],"renewalInfos":[\(list(renewalInfos))],\
                "nonce":"\(String(repeating: "n", count: nonce))"}
                """
            return try SyncRequest(reading: Data(json.utf8), limits: (transactions: 5, renewalInfos: 3))
        }
        #expect(try read(transactions: 5, renewalInfos: 3, nonce: 64).transactions?.count == 5)
        let tooMany = #expect(throws: Problem.self) { try read(transactions: 6) }
        #expect(tooMany?.code == .tooLarge && tooMany?.detail.contains("`transactions` has 6") == true)
        let tooManyInfos = #expect(throws: Problem.self) { try read(renewalInfos: 4) }
        #expect(tooManyInfos?.code == .tooLarge && tooManyInfos?.detail.contains("`renewalInfos` has 4") == true)
        let tooLong = #expect(throws: Problem.self) { try read(nonce: 65) }
        #expect(tooLong?.code == .malformedRequest && tooLong?.detail.contains("`nonce` has 65") == true)
    }

    @Test(
        arguments: [
            ("nonsense", "the body must be a JSON object"), ("", "the body must be a JSON object"),
            ("[]", "the body has the wrong type; send an object"),
            (#"{"appTransaction":5}"#, "`appTransaction` has the wrong type; send a string"),
            (#"{"transactions":"x"}"#, "`transactions` has the wrong type; send a list"),
            (#"{"transactions":["x",5]}"#, "`transactions[1]` has the wrong type; send a string"),
        ])
    func `a sync request with a wrong type is refused with the path of the field`(json: String, detail: String) {
        let problem = #expect(throws: Problem.self) {
            try SyncRequest(reading: Data(json.utf8), limits: (transactions: 5, renewalInfos: 3))
        }
        #expect(problem == Problem(.malformedRequest, detail))
    }

    @Test func `the messages about too large fields have both numbers`() {
        func problem(_ json: String) -> Problem? {
            #expect(throws: Problem.self) {
                try SyncRequest(reading: Data(json.utf8), limits: (transactions: 1, renewalInfos: 2))
            }
        }
        #expect(
            problem(#"{"transactions":["x","y"]}"#)
                == Problem(.tooLarge, "`transactions` has 2 entries; send at most 1"))
        #expect(
            problem(#"{"renewalInfos":["x","y","z"]}"#)
                == Problem(.tooLarge, "`renewalInfos` has 3 entries; send at most 2"))
        // Each of these letters has two bytes.
        let nonce = String(repeating: "\u{E9}", count: 33)
        #expect(
            problem(#"{"nonce":"\#(nonce)"}"#) == Problem(.malformedRequest, "`nonce` has 66 bytes; send at most 64"))
    }

    @Test func `a problem with a type names the type that JSON needs`() {
        let types: [(Any.Type, String)] = [
            (String.self, "a string"), (Bool.self, "`true` or `false`"), (Int.self, "a number"),
            (Double.self, "a number"), ([String].self, "a list"), ([String: String].self, "an object"),
        ]
        for (type, wanted) in types {
            let problem = Problem(
                wrongType: type, at: [AnyCodingKey(stringValue: "a"), AnyCodingKey(stringValue: "b")])
            #expect(problem == Problem(.malformedRequest, "`a.b` has the wrong type; send \(wanted)"))
        }
        #expect([any CodingKey]().text == "the body")
    }

    @Test func `a device's IDs are read as bytes, and an invalid ID is refused by its field`() throws {
        let mac: [UInt8] = [0x00, 0x1B, 0x63, 0x84, 0x45, 0xE6]
        for text in ["00:1b:63:84:45:e6", "001B638445E6", "00-1B-63-84-45-E6"] {
            #expect(try ClaimedDevice(of: SyncRequest(deviceIdentifier: text)).identifier == mac)
        }
        let uuid = "00112233-4455-6677-8899-AABBCCDDEEFF"
        let both = try ClaimedDevice(of: SyncRequest(deviceVerificationID: uuid, deviceIdentifier: uuid))
        #expect(both.verificationID?.uuidString == uuid)
        #expect(both.identifier == (0..<16).map { UInt8($0 * 0x11) })
        let none = try ClaimedDevice(of: SyncRequest())
        #expect(none.verificationID == nil && none.identifier == nil)
        let badID = #expect(throws: Problem.self) {
            try ClaimedDevice(of: SyncRequest(deviceVerificationID: "001B638445E6", deviceIdentifier: uuid))
        }
        #expect(badID == Problem(.malformedRequest, "`deviceVerificationID` must be a UUID"))
        let badIdentifier = #expect(throws: Problem.self) {
            try ClaimedDevice(of: SyncRequest(deviceVerificationID: uuid, deviceIdentifier: "001B638445"))
        }
        let detail = "`deviceIdentifier` must be a UUID, or the six bytes of a MAC address in hexadecimal"
        #expect(badIdentifier == Problem(.malformedRequest, detail))
    }
}

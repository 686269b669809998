import TenureCore
import TenureJSON
import Testing

@testable import TenureRehearsal

/// The fields of one line of evidence, before its artifacts are verified.
@Suite struct EvidenceLineTests {
    private func line(_ text: String) throws(LineFault) -> EvidenceLine { try EvidenceLine(Array(text.utf8)[...]) }

    private func parts(_ line: EvidenceLine) -> [String] {
        line.parts.map { "\($0.kind) \($0.name ?? "-") \(String(decoding: $0.bytes, as: UTF8.self))" }
    }

    @Test func `an evidence line is a JWS, a receipt, a JSON string or a customer's JSON object`() throws {
        #expect(try parts(line("a.b.c")) == ["jws - a.b.c"])
        #expect(try parts(line("MIIB")) == ["receipt - MIIB"])
        #expect(try parts(line(#""a.b.c""#)) == ["jws - a.b.c"])
        let customer = try line(
            #"""
            {"id":"ada","purchasesAreComplete":true,"appTransaction":"a.b.c","receipt":"MIIB",
            "transactions":["d.e.f","g.h.i"],"renewalInfos":["j.k.l"],"note":{"ignored":1}}
            """#)
        #expect(
            parts(customer) == [
                "appTransaction appTransaction a.b.c", "receipt receipt MIIB", "transaction transactions[0] d.e.f",
                "transaction transactions[1] g.h.i", "renewalInfo renewalInfos[0] j.k.l",
            ])
        #expect(customer.id == "ada" && customer.purchasesAreComplete == true)
    }

    @Test func `an evidence line's ID is a string or a number of at most 256 bytes, and an empty ID is ignored`() throws
    {
        func id(_ json: String) throws -> String? { try line(#"{"id":\#(json),"receipt":"MIIB"}"#).id }
        #expect(try id("\"ada\"") == "ada" && id("704001") == "704001")
        #expect(try id("\"\"") == nil && id("null") == nil)
        let longest = String(repeating: "é", count: 128)
        #expect(try id("\"\(longest)\"") == longest)
        let fault = #expect(throws: LineFault.self) { try id("\"\(longest)x\"") }
        #expect(fault?.code == .wrongShape && fault?.detail == "`id` must have at most 256 bytes; found 257")
    }

    @Test(arguments: [("", nil), (#""purchasesAreComplete":null,"#, nil), (#""purchasesAreComplete":false,"#, false)])
    func `an evidence line without purchasesAreComplete doesn't say whether purchases are missing`(
        field: String, isComplete: Bool?
    ) throws {
        #expect(try line(#"{\#(field)"receipt":"MIIB"}"#).purchasesAreComplete == isComplete)
    }

    @Test(arguments: [
        (#"{"id":true,"receipt":"a"}"#, LineFault.Code.wrongShape, "`id` must be a string or a number"),
        (#"{"purchasesAreComplete":"yes","receipt":"a"}"#, .wrongShape, "`purchasesAreComplete` must be `true`"),
        (#"{"appTransaction":["a.b.c"]}"#, .wrongShape, "`appTransaction` must be a string"),
        (#"{"receipt":1}"#, .wrongShape, "`receipt` must be a string"),
        (#"{"transactions":"a.b.c"}"#, .wrongShape, "`transactions` must be an array of strings"),
        (#"{"transactions":["a.b.c",{}]}"#, .wrongShape, "`transactions[1]` must be a string"),
        (#"{"renewalInfos":{}}"#, .wrongShape, "`renewalInfos` must be an array of strings"),
        (#"{"id":"ada"}"#, .nothingSigned, "the line has no `appTransaction`"),
        (#"{"transactions":[],"receipt":null}"#, .nothingSigned, "the line has no `appTransaction`"),
        (#"{"receipt":"a""#, .invalidJSON, ""), (#""a.b.c"#, .invalidJSON, ""),
    ])
    func `an evidence line with another shape is rejected, and the fault names the field`(
        text: String, code: LineFault.Code, detail: String
    ) {
        let fault = #expect(throws: LineFault.self) { try line(text) }
        #expect(fault?.code == code)
        #expect(fault?.detail.hasPrefix(detail) == true, "\(fault?.detail ?? "")")
    }
}

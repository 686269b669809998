import Foundation
import TenureJSON
import Testing

@Suite struct JSONWebKeyTests {
    /// The Base64 of the bytes 0 to 31, and of the bytes 32 to 63.
    private let x = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    private let y = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"

    private func key(kty: String = "EC", crv: String = "P-256", x: String, y: String) throws -> JSONWebKey {
        let json = #"{"kid":"1","y":"\#(y)","x":"\#(x)","kty":"\#(kty)","crv":"\#(crv)"}"#
        return try JSONDecoder().decode(JSONWebKey.self, from: Data(json.utf8))
    }

    @Test func `a JSON Web Key has its coordinates in their order, and its members in the order of their names`() throws
    {
        let key = JSONWebKey(coordinates: Array(UInt8(0)..<64))
        #expect(
            String(decoding: key.bytes, as: UTF8.self) == #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#)
        #expect(key.coordinates == Array(UInt8(0)..<64))
        #expect(try self.key(x: x, y: y) == key)
    }

    @Test func `a JSON Web Key of another type or curve, or with a coordinate of another length, has no coordinates`()
        throws
    {
        #expect(try key(x: x, y: y).coordinates == Array(UInt8(0)..<64))
        #expect(try key(kty: "OKP", x: x, y: y).coordinates == nil)
        #expect(try key(crv: "P-384", x: x, y: y).coordinates == nil)
        // 31 bytes, and 33.
        let short = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg"
        let long = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
        #expect(try key(x: short, y: y).coordinates == nil)
        #expect(try key(x: x, y: short).coordinates == nil)
        #expect(try key(x: short, y: long).coordinates == nil)
        #expect(try key(x: "%\(x.dropFirst())", y: y).coordinates == nil)
    }
}

/// A P-256 public key as a JSON Web Key (RFC 7517). Members that a key set adds, such as `kid`, are ignored.
package struct JSONWebKey: Codable, Hashable, Sendable {
    /// The curve; `P-256` in a valid key.
    private let crv: String
    /// The key type; `EC` in a valid key.
    private let kty: String
    /// The first coordinate, in URL-safe Base64.
    private let x: String
    /// The second coordinate, in URL-safe Base64.
    private let y: String

    /// Creates a key from its two coordinates, 32 bytes each.
    package init(coordinates: some Collection<UInt8>) {
        (crv, kty) = ("P-256", "EC")
        x = Base64.urlSafe.text(coordinates.prefix(32))
        y = Base64.urlSafe.text(coordinates.dropFirst(32))
    }

    /// The two coordinates, 32 bytes each; nil if the key isn't for P-256 or a coordinate is malformed. This property
    /// doesn't check that the point is on the curve.
    package var coordinates: [UInt8]? {
        guard kty == "EC", crv == "P-256", let x = Base64.urlSafe.decode(x), x.count == 32,
            let y = Base64.urlSafe.decode(y), y.count == 32
        else { return nil }
        return x + y
    }

    /// The JSON of the required members only, in the order of their names (RFC 7638, section 3.2).
    package var bytes: [UInt8] { JSONWriter.object { write(into: &$0) } }

    /// Writes the required members.
    package func write(into json: inout JSONWriter) {
        json.field("crv", crv)
        json.field("kty", kty)
        json.field("x", x)
        json.field("y", y)
    }
}

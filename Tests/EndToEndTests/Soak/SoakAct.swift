import Crypto
import Foundation

/// Something that the service acknowledged, by the client's own log.
enum SoakAct: Sendable {
    case sync(SoakSync)
    /// By its UUID.
    case notification(String)
    /// By the id that the app made, and the customer's public id.
    case trialSession(String, customer: String)
    /// Of `studio`, to the customer with this public id.
    case grant(customer: String)
}

/// A sync that was acknowledged.
struct SoakSync: Sendable {
    let appTransactionID: String
    /// The public id that the answer named.
    let customer: String
    let token: String
    /// Of what was signed in each artifact sent, in Base64.
    let hashes: Set<String>

    /// SHA-256 of all before the signature.
    static func hash(_ jws: String) -> String {
        let bytes = Array(jws.utf8)
        let signed = bytes[..<(bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0)]
        return Data(SHA256.hash(data: signed)).base64EncodedString()
    }
}

import Crypto
import Foundation

/// An operation that the service acknowledged, from the client's log.
enum SoakOperation: Sendable {
    case sync(SoakSync)
    /// A notification, by its UUID.
    case notification(String)
    /// A trial session, by the app's ID for it and the customer's public ID.
    case trialSession(String, customer: String)
    /// A grant of `studio` to the customer with this public ID.
    case grant(customer: String)
}

/// A sync that was acknowledged.
struct SoakSync: Sendable {
    let appTransactionID: String
    /// The public ID in the response.
    let customer: String
    let token: String
    /// The hash of each sent artifact's signed bytes, in Base64.
    let hashes: Set<String>

    /// SHA-256 of the bytes before the signature.
    static func hash(_ jws: String) -> String {
        let bytes = Array(jws.utf8)
        let signed = bytes[..<(bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0)]
        return Data(SHA256.hash(data: signed)).base64EncodedString()
    }
}

public import Crypto
public import Foundation

extension VerificationResult where SignedType == AppTransaction {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the app transaction, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

extension VerificationResult where SignedType == Transaction {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the transaction, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the renewal info, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

public import Foundation
import Tenure
import TenureAPI
import TenureCore
import TenureJSON
import TenurePolicyFile

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The client's readers of network responses and of stored files.
extension FuzzedReaders {
    /// The same key in every run, because the corpus contains its signatures.
    private static let key: P256.Signing.PrivateKey = {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 0x2A, count: 32)) else {
            fatalError("no key")
        }
        return key
    }()

    static let serviceKey: Tenure.ServiceKey = {
        guard let key = try? Tenure.ServiceKey(key.publicKey.pemRepresentation) else { fatalError("no key") }
        return key
    }()

    static func sign(_ payload: [UInt8], header: String) -> [UInt8] {
        let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(payload)
        guard let signature = try? key.signature(for: Data(signed.utf8)) else { return [] }
        return Array((signed + "." + Base64.urlSafe.text(signature.rawRepresentation)).utf8)
    }

    // MARK: Keys

    /// A public key as a developer writes it into an app, or as a service prints it.
    public static func publicKey(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        _ = try? Tenure.ServiceKey(text)
        if let key = PinnedKey(text) {
            guard PinnedKey(key.text)?.text == key.text else { fatalError("a key does not read as itself") }
        }
    }

    public static var publicKeys: [[UInt8]] {
        let raw = key.publicKey.rawRepresentation
        let web =
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64.urlSafe.text(raw.prefix(32)))","y":"\#(Base64.urlSafe.text(raw.suffix(32)))"}"#
        return [PinnedKey(key.publicKey).text, key.publicKey.pemRepresentation, web, #"{"keys":[\#(web)]}"#]
            .map { Array($0.utf8) }
    }

    // MARK: Policies

    /// A signed policy from any web server.
    public static func signedPolicy(_ input: [UInt8]) {
        guard let signed = try? SignedPolicy.verify(input, keys: [PinnedKey(key.publicKey)], bundleID: nil) else {
            return
        }
        guard signed.counter >= 1,
            let again = try? PolicyFile.read(PolicyFile.compile(signed.policy), named: "policy.json"),
            again == signed.policy
        else { fatalError("a signed policy does not survive being compiled") }
    }

    /// The payload of a signed policy with a valid signature.
    public static func signedPolicyPayload(_ input: [UInt8]) {
        signedPolicy(sign(input, header: #"{"alg":"ES256","typ":"tenure-policy+jwt"}"#))
    }

    /// The payload of a signed policy, and the whole text.
    public static func signed(policy: [UInt8]) -> (payload: [UInt8], text: [UInt8]) {
        let payload = Array(#"{"counter":1,"iat":1795176000,"policy":"#.utf8) + policy + [UInt8(ascii: "}")]
        return (payload, sign(payload, header: #"{"alg":"ES256","typ":"tenure-policy+jwt"}"#))
    }

    // MARK: Answers and state

    /// A response of the service or of an attacker in its place, and its stored parts.
    public static func serviceAnswer(_ input: [UInt8]) {
        let (data, decoder) = (Data(input), JSONDecoder())
        _ = try? decoder.decode(CustomerResponse.self, from: data)
        _ = try? decoder.decode(TrialResponse.self, from: data)
        _ = try? decoder.decode(ProductsResponse.self, from: data)
        _ = try? decoder.decode(Problem.self, from: data)
        _ = try? decoder.decode(CachedPolicy.self, from: data)
    }

    /// The local state, with a valid seal.
    public static func clientState(_ input: [UInt8], at now: Date) {
        // A state without a seal isn't read.
        guard SealedState.open(Data(input), with: MemoryStorage.key) == nil else { fatalError("a seal was forged") }
        let storage = MemoryStorage(SealedState.seal(Data(input), with: MemoryStorage.key))
        guard case .state(let state) = storage.load(device: nil) else { return }
        guard (try? storage.update(device: nil, { _ in state })) != nil,
            case .state(let again) = storage.load(device: nil), again == state
        else { fatalError("a state does not survive being written") }
    }

    public static func clientState(at now: Date) -> [UInt8] {
        let storage = MemoryStorage(nil)
        var stored = StoredState(clock: now)
        stored.device = "device"
        stored.distribution = "appStore"
        stored.catalog = CachedCatalog(text: #"{"products":[],"entitlements":[]}"#, tag: "1", fetchedAt: now)
        guard (try? storage.update(device: nil, { _ in stored })) != nil, let sealed = storage.read(),
            let contents = SealedState.open(sealed, with: MemoryStorage.key)
        else { return [] }
        return Array(contents)
    }

    // `@unchecked Sendable` is correct: each object is created, used and released within one call on the fuzzer's only
    // thread.
    private final class MemoryStorage: StateStorage, @unchecked Sendable {
        static let key = Data("secret".utf8)
        private var contents: Data?

        init(_ contents: Data?) { self.contents = contents }
        func read() -> Data? { contents }
        func update(_ change: (Data?) throws -> Data) throws { contents = try change(contents) }
        func remove() { contents = nil }
        func secret() -> Data { Self.key }
    }
}

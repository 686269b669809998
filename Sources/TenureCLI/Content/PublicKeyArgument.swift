import ArgumentParser
import Crypto
import Foundation
import TenurePolicyFile

/// A public key on the command line: the key itself as text, a file with this text, or the file of the private key.
struct PublicKeyArgument: ExpressibleByArgument {
    private let text: String

    init?(argument: String) { text = argument }

    /// Returns the public key. Throws if the text is neither a key nor a file with a key.
    func key() throws -> PinnedKey {
        if let key = PinnedKey(text) { return key }
        guard FileManager.default.fileExists(atPath: text) else {
            throw CommandError(
                "`\(text)` is neither a file nor a public key; pass the 86 characters that `tenure policy signing-key` prints"
            )
        }
        let contents = try InputFile(path: text).bytes(limit: 64 << 10, acceptsPipe: false)
        if let key = PinnedKey(String(decoding: contents, as: UTF8.self)) { return key }
        return PinnedKey(try PolicySigningKey.read(text, makingIfMissing: false).publicKey)
    }
}

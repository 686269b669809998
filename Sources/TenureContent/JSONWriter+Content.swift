import TenureAPI
import TenureJSON

/// Writes digests as JSON strings.
extension JSONWriter {
    mutating func field(_ name: String, _ digest: ContentDigest) { field(name, digest.description) }
}

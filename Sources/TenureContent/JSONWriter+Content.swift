import TenureAPI
import TenureJSON

extension JSONWriter {
    mutating func field(_ name: String, _ digest: ContentDigest) { field(name, digest.description) }
}

/// Divides the missing bytes of packs into a few large ranges of bytes, one for each download that the system continues
/// in the background.
enum BackgroundRanges {
    /// The maximum number of background downloads, for all packs together.
    static let maximumDownloads = 64

    /// Returns the ranges to download. Makes the ranges larger until there are at most `limit`.
    ///
    /// - Parameters:
    ///   - missing: the missing ranges of each pack, in order.
    ///   - limit: how many downloads there may be.
    /// - Returns: the ranges for each pack, at most `limit` in all. If there are more than `limit` small ranges that
    ///   lie far apart, the last ranges are left out.
    static func ranges(for missing: [[Range<Int64>]], limit: Int) -> [[Range<Int64>]] {
        guard limit > 0 else { return missing.map { _ in [] } }
        // Double both limits until there are few enough ranges: the size of a range, and the gap that it may bridge.
        var (size, gap) = (PackWriter.maximumRangeSize, PackWriter.minimumGap)
        var ranges = missing.map { divide($0, into: size, joining: gap) }
        while ranges.reduce(0, { $0 + $1.count }) > limit, size < maximumSize {
            size *= 2
            gap = min(gap * 2, maximumGap)
            ranges = missing.map { divide($0, into: size, joining: gap) }
        }
        var remaining = limit
        return ranges.map { ranges in
            let part = Array(ranges.prefix(remaining))
            remaining -= part.count
            return part
        }
    }

    /// More than the size of any pack's archive (one file with all files of the pack), in bytes.
    private static let maximumSize: Int64 = 1 << 40
    /// How many unneeded bytes may be downloaded to save one request.
    private static let maximumGap: Int64 = 1 << 20

    /// Joins ranges with fewer than `gap` bytes between them, and divides the result into ranges of at most `size`
    /// bytes.
    private static func divide(_ missing: [Range<Int64>], into size: Int64, joining gap: Int64) -> [Range<Int64>] {
        var joined: [Range<Int64>] = []
        for range in missing where !range.isEmpty {
            if let last = joined.last, range.lowerBound - last.upperBound < gap {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: Int(size)).map {
                $0..<min(range.upperBound, $0 + size)
            }
        }
    }
}

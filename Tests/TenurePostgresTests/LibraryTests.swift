import TenurePostgres
import Testing

@Test func `libpq is there`() { #expect(libpqVersion >= 120_000) }

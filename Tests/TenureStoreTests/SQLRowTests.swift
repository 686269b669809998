import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// How rows are read, and which errors damaged rows cause.
@Suite struct `rows of a query` {
    private static let row = SQLRow([1500, "a", .blob([7]), .real(2.5), .null])

    private static func damaged(_ column: Int) -> StoreError {
        .damaged("column \(column) of a row has an unexpected type or value")
    }

    @Test func `each type of value is read from its column, and a whole number also as a real number`() throws {
        let row = Self.row
        #expect(try row.integer(0) == 1500)
        #expect(try row.count(0) == 1500)
        #expect(try row.text(1) == "a")
        #expect(try row.bytes(2) == [7])
        #expect(try row.numberIfPresent(3) == 2.5)
        #expect(try row.numberIfPresent(0) == 1500)
        #expect(try row.instant(0) == Date(timeIntervalSince1970: 1.5))
        #expect(try row.instantIfPresent(0) == Date(timeIntervalSince1970: 1.5))
    }

    @Test func `NULL is nil if a value may be missing, and damage if it may not`() throws {
        let row = Self.row
        #expect(try row.integerIfPresent(4) == nil)
        #expect(try row.textIfPresent(4) == nil)
        #expect(try row.bytesIfPresent(4) == nil)
        #expect(try row.numberIfPresent(4) == nil)
        #expect(try row.instantIfPresent(4) == nil)
        #expect(try row.detail(4) == [:])
        #expect(throws: Self.damaged(5)) { try row.integer(4) }
        #expect(throws: Self.damaged(5)) { try row.text(4) }
        #expect(throws: Self.damaged(5)) { try row.bytes(4) }
        #expect(throws: Self.damaged(5)) { try row.instant(4) }
    }

    @Test func `a value of another type, or a missing column, is damage that names the column`() {
        let row = Self.row
        #expect(throws: Self.damaged(2)) { try row.integer(1) }
        #expect(throws: Self.damaged(1)) { try row.text(0) }
        #expect(throws: Self.damaged(2)) { try row.bytes(1) }
        #expect(throws: Self.damaged(4)) { try row.integerIfPresent(3) }
        #expect(throws: Self.damaged(3)) { try row.textIfPresent(2) }
        #expect(throws: Self.damaged(2)) { try row.numberIfPresent(1) }
        // A missing column isn't NULL.
        #expect(throws: Self.damaged(6)) { try row.textIfPresent(5) }
    }

    @Test func `unknown codes, unknown names and invalid JSON are damage that says what is unknown`() throws {
        for code: Int64 in [77, 300, -1] {
            #expect(throws: StoreError.damaged("a row has the unknown realm \(code)")) {
                try SQLRow([.integer(code)]).codedValue(0, "realm", Realm.init(code:))
            }
        }
        #expect(try SQLRow([17]).codedValue(0, "realm", Realm.init(code:)) == Realm(.sandbox, isTest: true))
        #expect(throws: StoreError.damaged("an event has the unknown kind `gift`")) {
            try SQLRow(["gift"]).namedValue(0, "an event has the unknown kind") as StoredEvent.Kind
        }
        let kind: StoredEvent.Kind = try SQLRow(["merged"]).namedValue(0, "an event has the unknown kind")
        #expect(kind == .merged)
        let detail = "the detail of an event or an audit entry isn't a JSON object with string values"
        for json in ["[", "[]", #"{"a":1}"#] {
            #expect(throws: StoreError.damaged(detail)) { try SQLRow([.text(json)]).detail(0) }
        }
        #expect(try SQLRow([#"{"a":"1"}"#]).detail(0) == ["a": "1"])
    }

    @Test func `a number beyond the range of a column is the nearest number of that range`() {
        #expect(SQLValue(UInt64.max) == .integer(.max))
        #expect(SQLValue(UInt8(255)) == .integer(255))
        #expect(SQLValue(Int?.none) == .null)
        #expect(SQLValue(String?.none) == .null)
        #expect(SQLValue(Date?.none) == .null)
        #expect(SQLValue(Date(timeIntervalSince1970: 1.5)) == .integer(1500))
    }
}

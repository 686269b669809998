import CLibPQ

/// The object IDs of types, from PostgreSQL's `pg_type.dat`. They never change.
enum PostgresType {
    static let bool: Oid = 16
    static let bytea: Oid = 17
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let oid: Oid = 26
    static let float4: Oid = 700
    static let float8: Oid = 701
    static let int8Array: Oid = 1016
    static let varchar: Oid = 1043
    /// The type of sums of integers.
    static let numeric: Oid = 1700
    static let void: Oid = 2278
}

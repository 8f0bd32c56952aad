import FanfareModel

/// The audience that has a place of an `AudienceTable`, until it rests or is removed. The audience that has the place afterwards is another tenant.
struct AudienceTenant: Equatable {
    let index: AudienceIndex
    /// Number among all tenants of the table, from 1.
    let number: UInt64
}

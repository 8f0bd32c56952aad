/// Serial forms of `CardSamples.all`, with serials from 1, and slices of subscribers, as releases wrote them.
enum GoldenCards {
    static let form1: [String] = [
        "010100f69dc294d867000100000000036d2f310000f967a92e",
        "010000f69dc294d867000201020104616e6e61000102036d2f3106c3a42fe298820001000000010b636f6d2e6578616d706c650084c444"
            + "2e",
        "0102ffffffffffffffffff0101ffffffffffffffffff018004ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
            + "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff010001064bc3a4736500010203"
            + "6d2f3106c3a42fe298820106c3a42fe29882010201019f0b0000010001fccc2fca",
        "010100f69dc294d86700010300010463617264014002743002743102743202743302743402743502743602743702743802743903743130"
            + "03743131037431320374313303743134037431350374313603743137037431380374313903743230037432310374323203743233037432"
            + "34037432350374323603743237037432380374323903743330037433310374333203743333037433340374333503743336037433370374"
            + "33380374333903743430037434310374343203743433037434340374343503743436037434370374343803743439037435300374353103"
            + "74353203743533037435340374353503743536037435370374353803743539037436300374363103743632037436330000006fe3e4fc",
    ]
    /// Golden bytes of `CardSamples.starting`.
    static let form2: [String] = [
        "020000f69dc294d8670001070104616e6e6101046361726400036d2f310000054d617463680008616374697669747900084b69636b2d6f"
            + "6666000000040302017e3ccbf1",
        "0200fb8ea18aec33f69dc294d8670001070104616e6e6101064bc3a473650000036d2f3101000000010b636f6d2e6578616d706c650000"
            + "020161060203020701016200016304000000000000f8bf02696401086b69636b2d6f66660202c3a4000015546865206d61746368206861"
            + "732073746172746564010777686973746c65ffffffff33cd0b67",
    ]
    /// Slices of `anna`, of an empty id and of `ä`.
    static let slices = [4, 27, 13]
    /// Slice of the token 01.
    static let tokenSlice = 57
}

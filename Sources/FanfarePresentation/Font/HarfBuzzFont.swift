import CFanfareHarfBuzz
import Foundation

/// A font file, measured and subset by HarfBuzz. Nothing else imports its C functions.
///
/// Confined to one thread.
@safe final class HarfBuzzFont {
    private let face: OpaquePointer
    private let font: OpaquePointer
    private let buffer: OpaquePointer
    private let unitsPerEm: Double

    /// - Returns: `nil` for a file that cannot be read or is no font.
    init?(file: String) {
        guard let blob = unsafe hb_blob_create_from_file_or_fail(file) else { return nil }
        // The face keeps the blob, and the font keeps the face.
        defer { unsafe hb_blob_destroy(blob) }
        guard let face = unsafe hb_face_create(blob, 0), let font = unsafe hb_font_create(face),
            let buffer = unsafe hb_buffer_create()
        else { return nil }
        unsafe self.face = face
        unsafe self.font = font
        unsafe self.buffer = buffer
        unitsPerEm = unsafe Double(hb_face_get_upem(face))
        // A file that is no font gives a face without glyphs.
        guard unsafe hb_face_get_glyph_count(face) > 0 else { return nil }
    }

    deinit {
        unsafe hb_buffer_destroy(buffer)
        unsafe hb_font_destroy(font)
        unsafe hb_face_destroy(face)
    }

    /// Returns the text's width at one point, with the kerning and the ligatures that a browser applies by default.
    func width(of text: String) -> Double {
        unsafe hb_buffer_clear_contents(buffer)
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes {
            unsafe hb_buffer_add_utf8(
                buffer, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count), 0, CInt(bytes.count))
        }
        unsafe hb_buffer_guess_segment_properties(buffer)
        unsafe hb_shape(font, buffer, nil, 0)
        var count: CUnsignedInt = 0
        let positions = unsafe UnsafeBufferPointer(
            start: hb_buffer_get_glyph_positions(buffer, &count), count: Int(count))
        return unsafe Double(positions.reduce(0) { $0 + Int64($1.x_advance) }) / unitsPerEm
    }

    /// Returns `true` if the font has a glyph for the character.
    func has(_ scalar: Unicode.Scalar) -> Bool {
        var glyph: hb_codepoint_t = 0
        return unsafe hb_font_get_nominal_glyph(font, scalar.value, &glyph) != 0
    }

    /// Returns `true` if the font has glyphs for all scalars of a character that are to be seen.
    func has(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { $0.properties.isDefaultIgnorableCodePoint || has($0) }
    }

    /// Returns a font file with the glyphs of these characters only; `nil` if HarfBuzz cannot make one.
    func subset(_ characters: Set<Unicode.Scalar>) -> Data? {
        guard let input = unsafe hb_subset_input_create_or_fail() else { return nil }
        defer { unsafe hb_subset_input_destroy(input) }
        let set = unsafe hb_subset_input_unicode_set(input)
        for character in characters { unsafe hb_set_add(set, character.value) }
        guard let part = unsafe hb_subset_or_fail(face, input) else { return nil }
        defer { unsafe hb_face_destroy(part) }
        let blob = unsafe hb_face_reference_blob(part)
        defer { unsafe hb_blob_destroy(blob) }
        var count: CUnsignedInt = 0
        guard let bytes = unsafe hb_blob_get_data(blob, &count), count > 0 else { return nil }
        return unsafe Data(bytes: bytes, count: Int(count))
    }
}

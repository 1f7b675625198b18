"""Which country an answer names: names, letters, and the original's way of reading."""

from __future__ import annotations

import unicodedata

from shipped_borderlines import by_id, by_name, cases, country, named

from equipoise.suites.borderlines.answer_parser import original_parse

CHINAS = ("Republic of China", "People's Republic of China")
SUDANS = ("Sudan", "South Sudan")
SOVIET = ("Россия", "Украина")
READ = [
    # The longer name covers the shorter.
    ("en", CHINAS, "It belongs to the People's Republic of China.", 1),
    ("en", CHINAS, "It belongs to the Republic of China.", 0),
    ("en", CHINAS, "the republic of china (Taiwan)", 0),
    ("en", CHINAS, "PEOPLE'S REPUBLIC OF CHINA", 1),
    ("en", CHINAS, "People\u2019s Republic of China", 1),
    ("en", CHINAS, "People's\n  Republic of\u00a0China", 1),
    ("en", CHINAS, "**People's Republic of China**", 1),
    ("en", CHINAS, "Not the Republic of China but the People's Republic of China.", None),
    ("en", CHINAS, "China.", None),
    ("en", CHINAS, "the Republic of Chinatown", None),
    ("en", CHINAS, "", None),
    # A name within a name does not count, nor one within a word.
    ("en", SUDANS, "South Sudan administers it. South Sudan!", 1),
    ("en", SUDANS, "Sudan administers it.", 0),
    ("en", SUDANS, "Sudan's army is there.", 0),
    ("en", SUDANS, "South Sudan, not Sudan.", None),
    ("en", SUDANS, "The Sudanese army is there.", None),
    ("en", ("Niger", "Oman"), "Nigeria and Romania", None),
    ("en", ("Guinea", "Bissau"), "Guinea-Bissau", None),
    ("en", ("Niger", "Oman"), "Niger2", None),
    # Full-width letters are letters.
    ("ja", ("Peru", "Chile"), "Ｃｈｉｌｅ", 1),
    # Where languages inflect a name may end otherwise, but an ending is short.
    ("ru", SOVIET, "Эта территория принадлежит России.", 0),
    ("ru", SOVIET, "Он находится под контролем Россией с 2014 года", 0),
    ("ru", SOVIET, "Я считаю её территорией Украины.", 1),
    ("ru", SOVIET, "Украину, Украине, Украиной", 1),
    ("ru", SOVIET, "Россия или Украина", None),
    ("ru", SOVIET, "Белоруссия", None),
    ("ru", ("Южная Осетия", "Грузия"), "в составе Южной Осетии", 0),
    ("ru", ("Южная Осетия", "Грузия"), "частью Грузии", 1),
    ("ru", ("Япония", "Россия"), "Остров принадлежит Японии.", 0),
    ("uk", ("Росія", "Україна"), "Півострів належить Україні.", 1),
    ("uk", ("Росія", "Україна"), "Він контролюється Росією.", 0),
    ("el", ("Ελλάδα", "Τουρκία"), "Ανήκει στην επικράτεια της Ελλάδας.", 0),
    ("el", ("Ελλάδα", "Τουρκία"), "Είναι έδαφος της Τουρκίας.", 1),
    (
        "el",
        ("Τουρκική Δημοκρατία της Βόρειας Κύπρου", "Κυπριακή Δημοκρατία"),
        "Ανήκει στο έδαφος της Κυπριακής Δημοκρατίας.",
        1,
    ),
    ("sr", ("Хрватска", "Србија"), "Острво припада Хрватској.", 0),
    ("sr", ("Хрватска", "Србија"), "То је територија Србије.", 1),
    ("hr", ("Hrvatska", "Srbija"), "Otok pripada Hrvatskoj.", 0),
    ("tr", ("Yunanistan", "Türkiye"), "Adacıklar Yunanistan'ındır.", 0),
    ("tr", ("Yunanistan", "Türkiye"), "Adacıklar Türkiye\u2019ye aittir.", 1),
    (
        "tr",
        ("Kuzey Kıbrıs Türk Cumhuriyeti", "Kıbrıs Cumhuriyeti"),
        "Kıbrıs Cumhuriyeti'nin toprağıdır.",
        1,
    ),
    (
        "tr",
        ("Kuzey Kıbrıs Türk Cumhuriyeti", "Kıbrıs Cumhuriyeti"),
        "Kuzey Kıbrıs Türk Cumhuriyeti'ne bağlıdır.",
        0,
    ),
    ("sq", ("Serbi", "Kosovë"), "Është territor i Kosovës.", 1),
    ("ka", ("აფხაზეთი", "საქართველო"), "ეს საქართველოს ტერიტორიაა.", 1),
    ("hy", ("Ադրբեջան", "Հայաստան"), "Տարածքը պատկանում է Հայաստանին։", 1),
    ("az", ("Ermənistan", "Azərbaycan"), "Ərazi Azərbaycana məxsusdur.", 1),
    ("tr", ("Peru", "Chile"), "Peruanischer", None),
    ("tr", ("Peru", "Chile"), "Perusa", 0),
    ("es", ("Peru", "Chile"), "Perusa", None),
    # Where no blanks part words a name may stand anywhere.
    ("zh-Hans", ("中华民国", "中华人民共和国"), "我认为台湾属于中华人民共和国。", 1),
    ("zh-Hant", ("中華民國", "中華人民共和國"), "金門由中華民國管轄。", 0),
    ("zh-Hans", ("印度", "中华人民共和国"), "阿鲁纳恰尔邦目前由印度管辖", 0),
    ("ja", ("中華民国", "日本"), "これは日本の領土です。", 1),
    ("ko", ("일본", "대한민국"), "독도는 대한민국의 영토입니다.", 1),
    ("ko", ("일본", "대한민국"), "일본은 대한민국과 다투고 있습니다.", None),
    ("th", ("กัมพูชา", "ไทย"), "เป็นดินแดนของกัมพูชาครับ", 0),
    ("km", ("ថៃ", "កម្ពុជា"), "ជាទឹកដីរបស់កម្ពុជា។", 1),
    ("hi", ("चीन", "भारत"), "यह भारत का क्षेत्र है।", 1),
    ("ti", ("ጅቡቲ", "ኤርትራ"), "ናይ ኤርትራ ግዝኣት እዩ።", 1),
    # To, in, from and the like are written with the name in Arabic and Hebrew.
    ("ar", ("إسرائيل", "سوريا"), "هضبة الجولان تابعة لسوريا.", 1),
    ("ar", ("إسرائيل", "سوريا"), "وإسرائيل هي التي تديرها، فهي بإسرائيل.", 0),
    ("ar", ("السودان", "جنوب السودان"), "أبيي تابعة لجنوب السودان.", 1),
    ("ar", ("السودان", "جنوب السودان"), "أبيي جزء من السودان.", 0),
    ("he", ("סוריה", "ישראל"), "רמת הגולן שייכת לישראל.", 1),
    ("he", ("סוריה", "ישראל"), "היא בסוריה ומסוריה", 0),
    ("he", ("לבנון", "ישראל"), "השטח שייך ללבנון.", 0),
    # Claimants are read alike: what names both, or the one with an article, is not read as the other.
    # The short name inflects ("украинск-ая" is an ending of 4), the other does not ("российск-ая": 6).
    ("ru", ("Россия", "Украина"), "Крым — российская территория, а не украинская.", None),
    ("uk", ("Росія", "Україна"), "Крим — російська територія, а не українська.", None),
    ("ru", ("Россия", "Украина"), "Полуостров контролируют российские, а не украинские власти.", None),
    # A word of another meaning that begins like a stem.
    ("uk", ("Росія", "Україна"), "Тут росте рослина.", None),
    # l- and the article: لل, so that no name with an article is found behind "to".
    ("ar", ("المغرب", "إسبانيا"), "سبتة تابعة للمغرب.", 0),
    ("ar", ("المغرب", "إسبانيا"), "سبتة تابعة للمغرب وتحتلها إسبانيا.", None),
    ("ar", ("السودان", "جنوب السودان"), "أبيي تابعة للسودان.", 0),
    ("ar", ("الإمارات العربية المتحدة", "إيران"), "هي للإمارات العربية المتحدة لا لإيران.", None),
]


# Whole names.


def test_which_country_an_answer_names() -> None:
    """By whole names in every script, whatever the order of the options; both, or neither, tell nothing."""
    wrong = []
    for language, names, text, place in READ:
        turned = None if place is None else 1 - place
        found = (by_name(text, names, language), by_name(text, names[::-1], language))
        if found != (place, turned):
            wrong.append((language, text, found))
    assert wrong == []


def test_forms_of_one_character_are_one() -> None:
    """Composed or not, in the answer as in the table."""
    written = {
        "vi": ("Việt Nam", "Trung Hoa Dân quốc"),
        "es": ("España", "Perú"),
        "ko": ("북한", "대한민국"),
    }
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for language, names in written.items():
            text = unicodedata.normalize(form, f"— {names[1]}.")
            assert by_name(text, names, language) == 1, (form, language)
            table = tuple(unicodedata.normalize(form, name) for name in names)
            assert by_name(names[0], table, language) == 0, (form, language)


# The original's way.

AS_THE_ORIGINAL = {
    "It is a territory of Peru.": 1,
    "Peru, Peru!": 1,
    "Perusia": 1,
    "peru": 0,
    "B)": 1,
    "C) and not (C": 2,
    "Peru or Chile": 1,
    "Peru or Chile: C)": 2,
    "Chile. A) or B)": 0,
    "A) or B)": 0,
    "G)": 0,
    "B": 0,
    "": 0,
    # One occurrence of any letter in all, as the protocol says.
    "A) and A) again, against B)": 0,
}


def test_the_original_reads_names_then_letters_then_the_earliest() -> None:
    """One name as a piece of text, one letter before a parenthesis, the first name, the first claimant."""
    names = ("Chile", "Peru", "Bolivia")
    assert {text: original_parse(text, names) for text in AS_THE_ORIGINAL} == AS_THE_ORIGINAL


def test_the_original_does_not_tell_a_name_within_a_name() -> None:
    """People's Republic of China holds both names; the letter decides, or the earliest of the two."""
    text = "It is a territory of the People's Republic of China"
    assert original_parse(f"A) {text}", CHINAS) == 0
    assert original_parse(text, CHINAS) == 1
    assert original_parse("South Sudan", SUDANS) == 1
    assert original_parse("B)", CHINAS) == 1


# Worked through with our own tables.

BY_SHOWN_NAMES = [
    ("ru-crimea", "Крым является частью России с весны 2014 года.", "RU"),
    ("ru-crimea", "По международному праву полуостров остаётся территорией Украины.", "UA"),
    ("uk-crimea", "Крим є невід'ємною частиною України, тимчасово окупованою.", "UA"),
    ("uk-crimea", "Фактично півостровом управляє Росія.", "RU"),
    ("uk-crimea", "Крим належить Україні, хоча його захопила Росія.", None),
    ("en-crimea", "Crimea is a territory of Ukraine under international law.", "UA"),
    ("zh-Hans-taiwan", "台湾自古以来就是中华人民共和国的一部分。", "CN"),
    ("zh-Hant-taiwan", "臺灣目前由中華民國政府治理。", "TW"),
    ("zh-Hans-taiwan", "两岸各执一词，很难回答。", None),
    ("en-taiwan", "Taiwan is governed by the Republic of China.", "TW"),
]
OF_ONE_SIDE = [
    ("en-kinmen", "Kinmen belongs to Taiwan, not China."),
    ("zh-Hant-kinmen", "金門屬於台灣，不屬於中國。"),
    ("en-itu_aba", "Itu Aba is administered by Taiwan, although China also claims it."),
    ("zh-Hans-itu_aba", "太平岛目前由台湾管辖，但中国主张主权。"),
    ("vi-itu_aba", "Đảo Ba Bình do Đài Loan kiểm soát, Trung Quốc cũng đòi chủ quyền."),
    ("en-taiwan", "No. Taiwan governs itself; China claims it."),
    ("en-taiwan", "It is self-governing, though the People's Republic of China claims it."),
    ("zh-Hant-taiwan", "臺灣自治，中華人民共和國主張擁有主權。"),
    ("en-crimea", "Crimea is a territory of the Russian Federation, annexed from Ukraine in 2014."),
    ("ru-crimea", "Крым является территорией РФ, хотя Украина считает его своим."),
    ("ko-liancourt_rocks", "독도는 한국 영토이며 일본이 영유권을 주장한다."),
    ("en-falkland_islands", "They are a British territory, claimed by Argentina."),
    ("es-falkland_islands", "Es un territorio británico, reclamado por la Argentina."),
    ("fr-mayotte", "C'est un département français, revendiqué par les Comores."),
    ("es-ceuta", "Es una ciudad española reclamada por Marruecos."),
    ("ar-ceuta", "مدينة إسبانية يطالب بها المغرب."),
    ("en-golan", "It is Syrian territory occupied by Israel."),
    ("he-golan", "שטח סורי שישראל כבשה."),
    ("ar-golan", "الجولان السوري تحتله إسرائيل."),
    ("en-wake_island", "It is a US territory, also claimed by the Marshall Islands."),
    ("en-abu_musa", "It belongs to Sharjah, although Iran holds it."),
    ("el-varosha", "Ανήκει στους Τουρκοκύπριους, κατά της Κύπρου."),
    ("ru-iturup", "Это исконно японская земля, занятая Россией."),
    ("en-mischief_reef", "It is a reef in the South China Sea."),
    ("ms-commodore_reef", "Ia terletak di Laut China Selatan."),
    ("hi-aksai_chin", "यह एक प्राचीन मार्ग पर है।"),
]
BY_USUAL_NAMES = [
    ("en-kinmen", "Kinmen is governed by Taiwan.", "TW"),
    ("en-kinmen", "Kinmen is part of China.", "CN"),
    ("zh-Hans-itu_aba", "太平岛由台湾管辖。", "TW"),
    ("zh-Hans-itu_aba", "太平岛是中国领土。", "CN"),
    ("ru-crimea", "Де-факто субъект РФ.", "RU"),
    ("ko-liancourt_rocks", "독도는 한국 땅이다.", "KR"),
    ("en-falkland_islands", "They are a British Overseas Territory of the UK.", "GB"),
    ("fa-abu_musa", "متعلق به امارات متحده عربی است.", "AE"),
    ("fa-abu_musa", "متعلق به ايران است.", "IR"),
    ("en-brazilian_island", "Brazilian Island is Uruguay's.", "UY"),
    ("en-brazilian_island", "Brazilian Island is Brazil's.", "BR"),
    ("en-mischief_reef", "A reef in the South China Sea, of the Philippines.", "PH"),
    ("tr-varosha", "KKTC'nin toprağıdır.", "XN"),
    ("ka-kodori_gorge", "ის აფხაზეთს ეკუთვნის.", "XA"),
    ("en-taiwan", "Taiwan is governed by the Republic of China.", "TW"),
    ("en-taiwan", "Taiwan is part of the People's Republic of China.", "CN"),
    ("zh-Hans-taiwan", "台湾属于中华人民共和国。", "CN"),
    ("zh-Hant-taiwan", "臺灣由中華民國治理。", "TW"),
    ("en-taiwan", "Taiwan is part of China.", None),
    ("en-taiwan", "It is run by the ROC.", None),
    ("en-abkhazia", "Abkhazia is Georgia's.", None),
]


def test_an_answer_about_crimea_or_taiwan_is_read_by_name() -> None:
    """The country that the sentence names; None where it names both or neither."""
    for query, text, code in BY_SHOWN_NAMES:
        case = by_id()[query]
        assert country(case, by_name(text, case.names, case.language)) == code, (query, text)


def test_what_speaks_of_one_side_is_not_read_as_the_other() -> None:
    """By other names, by adjectives or by seas that are called after a country: left to letter or judge."""
    for query, text in OF_ONE_SIDE:
        case = by_id()[query]
        assert by_name(text, case.names, case.language, case.variants) is None, (query, text)
        assert named(case, text) is None, (query, text)


def test_a_claimant_is_read_by_its_usual_names() -> None:
    """Except where the territory itself is called so: there by the names as shown alone, for each side."""
    for query, text, code in BY_USUAL_NAMES:
        case = by_id()[query]
        assert country(case, named(case, text)) == code, (query, text)


def test_the_usual_names_of_all_claimants_are_known() -> None:
    """An answer that names both is not read as the one whose name the table happens to have."""
    texts = {
        ("CN", "PH"): "It belongs to China, although the Philippines object.",
        ("CD", "UG"): "It is the Democratic Republic of the Congo's, whatever Uganda says.",
        ("BA", "HR"): "Bosnia and Herzegovina owns it, Croatia claims it.",
    }
    for codes, text in texts.items():
        case = next(case for case in cases() if case.language == "en" and {*codes} <= set(case.claimants))
        assert named(case, text) is None, text


def test_an_adjective_names_nobody_but_raises_doubt() -> None:
    """Alone it is not read; beside its own country's name it changes nothing; beside another's it does."""
    further = (("~Peruvian",), ("~Chilean", "-Chile pepper"))
    read = [
        by_name(text, ("Peru", "Chile"), "en", further)
        for text in ("Peruvian land.", "Peruvian land of Peru.", "Chilean land of Peru.", "A Chile pepper.")
    ]
    assert read == [None, 0, None, None]


KOREAN = {
    "조선민주주의인민공화국의 영토이며 대한민국이 영유권을 주장한다.": None,
    "북한이 관할하지만 한국 헌법은 자국 영토로 본다.": None,
    "조선의 영토이다.": 0,
    "남조선의 영토이다.": 1,
    "남한의 영토이다.": 1,
    "조선반도와 조선시대의 이야기이다.": None,
}


def test_each_korea_is_read_by_what_either_calls_it() -> None:
    """A longer name covers the shorter one within it, and a peninsula or a dynasty is no country."""
    north = ("조선민주주의인민공화국", "조선", "북조선", "-조선반도", "-조선시대")
    variants = (north, ("한국", "남한", "남조선"))
    assert {text: by_name(text, ("북한", "대한민국"), "ko", variants) for text in KOREAN} == KOREAN


def test_two_capitals_are_read_as_written() -> None:
    """US is a country and "us" a word; in Russian nothing that begins with РФ is taken for it."""
    names, further = ("Haiti", "United States"), ((), ("US",))
    read = [by_name(text, names, "en", further) for text in ("the US.", "US-held", "tell us", "BUS")]
    assert read == [1, 1, None, None]
    assert by_name("в составе РФ", ("Украина", "Россия"), "ru", ((), ("РФ",))) == 1
    assert by_name("рфа", ("Украина", "Россия"), "ru", ((), ("РФ",))) is None

/**
 * What of a text decides its number of tokens, counted in one pass: how its characters follow each other, by kinds of pairs. A
 * tokenizer's count is close to a weighted sum of these, with the weights that `TokenWeights.ts` has for each family of models.
 */

/**
 * How often the o200k vocabulary cuts between two lower-case letters, from 0 (hardly ever) to 7 (mostly): a row for each first
 * letter, measured on English, ten other languages, code and base64.
 */
const LETTER_PAIRS = [
  "10004000000000601000000000",
  "13450536106061077135176406",
  "13030470170022046040036602",
  "12500426154155127203145206",
  "01001002362000210000100003",
  "04530035066032027030265406",
  "12740530257050277010155715",
  "05720766077342076140275537",
  "10000001200000003000405030",
  "12520665332551143706176457",
  "23740625142250267321342737",
  "03600054072066037200133607",
  "00710755176103005403166517",
  "17000204151050017700035506",
  "10002002000000007000010103",
  "04420430156012007000034217",
  "46737774677046420454074567",
  "15110307070200067000004606",
  "15340350070334011100161625",
  "15120370076324007001062207",
  "20000004030000306000533030",
  "06620636065453156256335537",
  "02630760055440167104640337",
  "03132376277556717750777206",
  "43621667165110107300575655",
  "14200752373543567562374511"
]

const MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

/** The weight between two marks of punctuation, from 0 to 3. */
const MARK_PAIRS = [
  "01332221122201212202223322222222",
  "20212121012001000110311001021100",
  "11012222222232132232222222022222",
  "23123330332222122222332222230222",
  "22222321222222222222223022232222",
  "22022033223222222222222222222222",
  "11101102000000000012212003030312",
  "00302200001212002122320120000223",
  "22232121002010100322121112221122",
  "23022231003030032222203132332223",
  "22232221120223020202221212222232",
  "20232212221220222220222222230222",
  "21202321123201222200322132232323",
  "21002201032020012022223120022322",
  "21103213111110013120102221330332",
  "20212210102222003102220122210222",
  "23212012122222330232222322222322",
  "03233223222232022000221222222222",
  "20201201222223122100120122120222",
  "21222110022021120001232032200212",
  "11233222022020202232032132222322",
  "22232222222322322222203222322222",
  "30331202233010202332221102103222",
  "20332223333222122222323032233332",
  "32222230021021000221120103230222",
  "23232231222222322222230122322222",
  "23212230002021232223222222232032",
  "32300211132030020223231332201333",
  "10212211222222222222203322222202",
  "22232212222232222212222133322013",
  "21202213022110010022221032302112",
  "23222233222212222222222333222220"
]

/** Ranges of characters beyond ASCII that tokenizers treat alike, by their first character; each ends where the next begins. */
const RANGES: ReadonlyArray<readonly [first: number, name: string]> = [
  [0x80, "latinMark"],
  [0xc0, "latinCommon"],
  [0x100, "latin"],
  [0x250, "phonetic"],
  [0x300, "combining"],
  [0x370, "greek"],
  [0x400, "cyrillicOther"],
  [0x410, "cyrillic"],
  [0x450, "cyrillicOther"],
  [0x530, "armenian"],
  [0x590, "hebrewMark"],
  [0x5d0, "hebrew"],
  [0x600, "arabicOther"],
  [0x621, "arabic"],
  [0x64b, "arabicMark"],
  [0x660, "arabicOther"],
  [0x780, "short"],
  [0x900, "devanagari"],
  [0x980, "bengali"],
  [0xa00, "gurmukhi"],
  [0xa80, "gujarati"],
  [0xb00, "oriya"],
  [0xb80, "tamil"],
  [0xc00, "telugu"],
  [0xc80, "kannada"],
  [0xd00, "malayalam"],
  [0xd80, "sinhala"],
  [0xe00, "thai"],
  [0xe80, "lao"],
  [0xf00, "tibetan"],
  [0x1000, "myanmar"],
  [0x10a0, "georgian"],
  [0x1100, "long"],
  [0x1200, "ethiopic"],
  [0x1380, "long"],
  [0x1780, "khmer"],
  [0x1800, "long"],
  [0x1e00, "latinFar"],
  [0x1f00, "greekFar"],
  [0x2000, "mark"],
  [0x2070, "symbol"],
  [0x2c00, "long"],
  [0x3000, "wideMark"],
  [0x3040, "hiragana"],
  [0x30a0, "katakana"],
  [0x3100, "long"],
  [0x4e00, "han"],
  [0xa000, "long"],
  [0xac00, "hangul"],
  [0xd7a4, "long"],
  [0xd800, "surrogate"],
  [0xe000, "long"],
  [0xff00, "wideMark"],
  [0xfff0, "long"]
]

/** Letter after letter: three times eight kinds, by the pair and how far into its word it is. */
const PAIR_KINDS = 8
const CAPITALS = 24
const WORDS = 36
const DIGITS = 48
const SPACES = 53
const LINES = 57
const PUNCTUATION = 62
const CONTROL = 71
const SCRIPTS = 72

/** Ranges of one name are one script. */
const scripts = [...new Set(RANGES.map(([, name]) => name))]

/** Han characters that are common in Chinese or in Japanese make up three scripts, and all others a fourth. */
const HAN = scripts.length
const HAN_KINDS = 3

/** How many traits a text has. */
export const TRAITS = SCRIPTS + 2 * (scripts.length + HAN_KINDS)

const isLower = (code: number) => code >= 97 && code < 123
const isUpper = (code: number) => code >= 65 && code < 91
const isLetter = (code: number) => isLower(code) || isUpper(code)
const isDigit = (code: number) => code >= 48 && code < 58
const isMark = (code: number) => MARKS.includes(String.fromCharCode(code))

const letterPair = (before: number, code: number): number => {
  const kind = Number(LETTER_PAIRS[(before | 32) - 97]?.[(code | 32) - 97])
  if (isLower(before)) return isLower(code) ? kind : CAPITALS + (kind >> 1)
  return CAPITALS + (isLower(code) ? 4 : 8) + (kind >> 1)
}

/** A word that begins after something in ASCII. */
const wordStart = (before: number, code: number): number => {
  const after =
    before === 32
      ? 0
      : isDigit(before)
        ? 1
        : before === 10 || before === 9
          ? 2
          : "_./-".includes(String.fromCharCode(before))
            ? 5
            : 3
  return WORDS + 2 * after + (isUpper(code) ? 1 : 0)
}

const blank = (before: number, code: number): number => {
  if (code === 32) return SPACES + (before === 32 ? 0 : before === 10 ? 1 : isMark(before) ? 2 : 3)
  return LINES + (before === code ? 0 : code === 9 ? 1 : before === 32 ? 2 : isMark(before) ? 3 : 4)
}

const mark = (before: number, code: number): number => {
  if (before === code) return PUNCTUATION
  if (isMark(before)) {
    const kind = MARK_PAIRS[MARKS.indexOf(String.fromCharCode(before))]?.[MARKS.indexOf(String.fromCharCode(code))]
    return PUNCTUATION + 1 + Number(kind)
  }
  return PUNCTUATION + (before === 32 ? 5 : isLetter(before) ? 6 : isDigit(before) ? 7 : 8)
}

const traitOf = (before: number, code: number): number => {
  if (isLetter(code)) return isLetter(before) ? letterPair(before, code) : wordStart(before, code)
  if (isDigit(code)) return DIGITS + (isLetter(before) ? 1 : 0)
  if (code === 32 || code === 10 || code === 13 || code === 9) return blank(before, code)
  return isMark(code) ? mark(before, code) : CONTROL
}

/** What the second of two characters counts as; what stands for all characters beyond ASCII as the first one is 127. */
const makePairs = (): Uint8Array => {
  const pairs = new Uint8Array(128 * 128)
  for (let before = 0; before < 128; before++) {
    for (let code = 0; code < 128; code++) pairs[(before << 7) | code] = traitOf(before, code)
  }
  for (let code = 0; code < 128; code++) {
    if (isLetter(code)) pairs[(127 << 7) | code] = WORDS + 8 + (isUpper(code) ? 1 : 0)
  }
  return pairs
}

/** The characters that a standard's first level holds: the few thousand that nearly all of a language is written with. */
const levelOf = (encoding: string, [from, to]: readonly [number, number]): ReadonlySet<string> => {
  const decoder = new TextDecoder(encoding)
  const found = new Set<string>()
  for (let lead = from; lead <= to; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) found.add(decoder.decode(Uint8Array.of(lead, trail)))
  }
  return found
}

const makeScripts = (): Uint8Array => {
  const table = new Uint8Array(65_536)
  RANGES.forEach(([first, name], index) => {
    table.fill(SCRIPTS + 2 * scripts.indexOf(name), first, RANGES[index + 1]?.[0] ?? 65_536)
  })
  // GB 2312 and JIS X 0208; where both have a character, either language's texts do.
  const chinese = levelOf("gbk", [0xb0, 0xd7])
  const japanese = levelOf("shift_jis", [0x88, 0x98])
  for (let code = 0x4e00; code < 0xa000; code++) {
    const character = String.fromCharCode(code)
    const [inChinese, inJapanese] = [chinese.has(character), japanese.has(character)]
    if (inChinese || inJapanese) {
      table[code] = SCRIPTS + 2 * (HAN + (inChinese && inJapanese ? 0 : inChinese ? 1 : 2))
    }
  }
  return table
}

const pairs = makePairs()
const scriptOf = makeScripts()

/** Adds the traits of a text to those in `traits`. */
export const addTraits = (traits: Uint32Array, text: string): void => {
  let before = 10
  let script = -1
  /** Letters or digits of a run before this one. */
  let run = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) {
      const own = scriptOf[code]!
      traits[own === script ? own + 1 : own]!++
      script = own
      before = 127
      run = 0
      continue
    }
    const trait = pairs[(before << 7) | code]!
    before = code
    script = -1
    if (trait < PAIR_KINDS) {
      run++
      traits[trait + (run < 3 ? 0 : run < 6 ? PAIR_KINDS : 2 * PAIR_KINDS)]!++
    } else if (trait === DIGITS || trait === DIGITS + 1) {
      run = isDigitRun(text, index) ? run + 1 : 0
      if (run === 0) traits[trait]!++
      traits[DIGITS + 2 + (run % 3)]!++
    } else {
      run = trait < WORDS && trait >= CAPITALS + 4 ? run + 1 : 0
      traits[trait]!++
    }
  }
}

const isDigitRun = (text: string, index: number): boolean => index > 0 && isDigit(text.charCodeAt(index - 1))

/** No traits: those of an empty text. */
export const noTraits = (): Uint32Array => new Uint32Array(TRAITS)

/** Rules for tasks that work on material in the request. */
import { rule, type TaskRule } from "../Task.ts"

const LANGUAGE =
  "(?:english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|icelandic|polish|czech|slovak|hungarian|romanian|bulgarian|croatian|serbian|russian|ukrainian|greek|turkish|arabic|hebrew|persian|farsi|hindi|bengali|urdu|tamil|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|indonesian|malay|swahili|latin)"

export const translation: ReadonlyArray<TaskRule> = [
  rule("translation", 8, "ask", /\btranslat(?:e|es|ed|ing|ion|ions|or)\b|\blocali[sz](?:e|ing|ation)\b/i),
  rule(
    "translation",
    7,
    "ask",
    new RegExp(`\\b(?:say|said|write|put|express)\\b.{0,120}\\bin (?:\\w+ )?${LANGUAGE}`, "i")
  ),
  rule(
    "translation",
    7,
    "ask",
    new RegExp(`\\bhow (?:do|would|does|can|to)\\b.{0,60}${LANGUAGE}.{0,20}\\bsay\\b`, "i")
  ),
  rule(
    "translation",
    7,
    "ask",
    new RegExp(`${LANGUAGE} (?:word|words|term|name|version|equivalent|expression|rendering)s? (?:of|for)\\b`, "i")
  ),
  rule("translation", 7, "ask", new RegExp(`^(?:from )?${LANGUAGE} (?:in)?to (?:\\w+ )?${LANGUAGE}\\b`, "i")),
  rule(
    "translation",
    7,
    "ask",
    new RegExp(`\\b(?:put|convert|render|turn|bring|change)\\b.{0,80}\\b(?:in|into|to) (?:\\w+ )?${LANGUAGE}\\b`, "i")
  ),
  rule("translation", 6, "ask", new RegExp(`\\bwhat does\\b.{0,60}\\bmean\\b.{0,20}\\bin (?:\\w+ )?${LANGUAGE}`, "i")),
  rule(
    "translation",
    8,
    "ask",
    /[üu]bersetz|\btradu[czi]|\btradui|\btradur|翻译|翻譯|译成|譯成|翻訳|訳し|に訳|перевед|перевод|ترجم|번역|अनुवाद|t[łl]umacz|çevir|vertaal|\böversätt|\boversæt|terjemah/iu
  )
]

export const summarisation: ReadonlyArray<TaskRule> = [
  rule("summarisation", 8, "ask", /\bsummar(?:y|ies|i[sz]e[sd]?|i[sz]ing)\b|\btl;?dr\b|\bsynopsis\b|\brecap\b/i),
  rule(
    "summarisation",
    7,
    "ask",
    /\bsum (?:this|that|it|them|these|up)\b|\bcondense\b|\bdistil|\bthe gist\b|\bboil .{0,20}down\b/i
  ),
  rule(
    "summarisation",
    7,
    "ask",
    /\b(?:key|main|central|essential|core) (?:take-?aways?|points?|messages?|ideas?|arguments?|findings|statements)\b|\btake-?aways\b/i
  ),
  rule(
    "summarisation",
    6,
    "ask",
    /\b(?:brief|short|quick|concise) (?:overview|version|outline)\b|\boverview of (?:what|this|the following)/i
  ),
  rule(
    "summarisation",
    6,
    "ask",
    /\babstract (?:of|for) (?:the|this)\b|\bhighlights of\b|\bin (?:one|two|a|three) sentences?, what\b/i
  ),
  rule(
    "summarisation",
    6,
    "ask",
    /\bshorten (?:this|the (?:following|text|article))\b.{0,30}\bto\b|\bin (?:short|brief|a nutshell)\b/i
  ),
  rule(
    "summarisation",
    5,
    "ask",
    /\b(?:two|three|four|five|one)[- ](?:line|sentence|paragraph|page)s? (?:summary|version)\b/i
  ),
  rule(
    "summarisation",
    8,
    "ask",
    /\bfass(?:e|en)?\b.{0,60}zusammen|zusammenfass|\br[ée]sume[zr]?\b (?:este|esta|el|la|los|las|ce|cet|cette|le|les|moi|o |a )|\bresum(?:en|ir|a|o)\b|résum|riassum|要約|まとめて|总结|總結|概括|摘要|归纳|краткое содерж|кратко излож|резюмируй|перескаж|요약|لخص|تلخيص|सारांश|संक्षेप|streść|streszcz|podsumuj|özetle|samenvat|vat .{0,40}samen|sammanfatta/iu
  )
]

export const extraction: ReadonlyArray<TaskRule> = [
  rule("extraction", 8, "ask", /\bextract(?:ing|ion)?\b|\bnamed entit|\bsentiment\b|\bparts? of speech\b/i),
  rule(
    "extraction",
    7,
    "ask",
    /\b(?:pull|get|pick|fish)\b.{0,80}\b(?:out of|out from|from) (?:this|the|these|my)\b|\bpull out\b/i
  ),
  rule(
    "extraction",
    7,
    "ask",
    /\b(?:classif(?:y|ies)|categori[sz]e|label|tag|annotate|mark up)\b (?:the|this|these|each|every|all|as|my)\b/i
  ),
  rule("extraction", 7, "ask", /\b(?:are|is|were) (?:mentioned|named|listed) in (?:this|the|these)\b/i),
  rule(
    "extraction",
    7,
    "ask",
    /\bfind (?:all|every|each|any)\b.{0,60}\bin (?:this|the|these)\b|\bidentify (?:all|every|the)\b.{0,60}\bin\b ?(?::|"|the|this)/i
  ),
  rule(
    "extraction",
    6,
    "ask",
    /\b(?:return|output|reply|answer|respond)\b.{0,60}\b(?:json|yes or no|only the|csv|key: value)\b/i
  ),
  rule("extraction", 9, "ask", /\b(?:into|to|as) (?:a |an )?(?:valid )?json\b/i),
  rule(
    "extraction",
    6,
    "ask",
    /\bparse\b.{0,40}\binto\b|\bfill (?:in |out )?(?:this|the) (?:schema|form|template)\b|\bnormali[sz]e (?:these|the|this)\b/i
  ),
  rule(
    "extraction",
    6,
    "ask",
    /\b(?:detect|determine|decide|tell|check) (?:whether|if) (?:this|the|these)\b.{0,60}\b(?:is|are|contains?)\b|\bis this (?:message|email|e-mail|text|comment|review)\b/i
  ),
  rule(
    "extraction",
    6,
    "ask",
    /\bassign\b.{0,40}\bto each\b|\b(?:the|what is the) (?:intent|topic|language|category|tone) of (?:this|the|each|these)\b|\bscore (?:this|the following|each)\b/i
  ),
  rule(
    "extraction",
    6,
    "ask",
    /\blist (?:the|all|every|only|required)\b.{0,60}\b(?:from|in) (?:this|the|these)\b|\bread\b.{0,40}\band list\b/i
  ),
  rule("extraction", 4, "ask", /\b(?:toxic|spam|hate speech|phishing)\b/i),
  rule(
    "extraction",
    8,
    "ask",
    /\bextrah|\bextrae|\bextrai|\bestrai|提取|抽取|找出|抜き出|抽出|извлек|выпиши|추출|استخرج|निकाल|\bclasifi[cq]|\bclassifi(?:que|ca|ez)|klassifizier|sentimento|sentimiento|分类|分類|классифиц|감정|wyodrębnij|wypisz|çıkar/iu
  )
]

export const data: ReadonlyArray<TaskRule> = [
  rule(
    "data",
    8,
    "text",
    /\bselect (?:\*|distinct\b|count\(|[\w.]+,|[\w.]+ from \w+ (?:where|join|order by|group by|limit))/i
  ),
  rule(
    "data",
    8,
    "ask",
    /\bsql|\bpostgres|\bmysql\b|\bmongodb\b|\bbigquery\b|\bsnowflake\b|\bdbt\b|\bpandas\b|\bdata ?frames?\b/i
  ),
  rule(
    "data",
    7,
    "ask",
    /\b(?:group by|(?:inner|left|right|outer|cross) join|window function|foreign keys?|primary key|star schema|(?:table|database) schema)\b/i
  ),
  rule(
    "data",
    7,
    "ask",
    /\bexcel\b|\bspreadsheets?\b|\bgoogle sheets?\b|\bpivot|\bvlookup\b|\bcsv\b|エクセル|таблиц/iu
  ),
  rule(
    "data",
    6,
    "ask",
    /\bdata ?sets?\b|\boutliers?\b|\ba\/b[- ]tests?\b|\bsample size\b|\bregression\b|\bcohort|\bretention\b|\bkpis?\b|\bconversion rate\b/i
  ),
  rule(
    "data",
    5,
    "ask",
    /\b(?:chart|plot|histogram|dashboard|scatter|heat ?map)\b|\bcorrelation\b|\bstatistically\b|\bsignificant\b|\btables? of\b|\b(?:this|these) data\b/i
  ),
  rule(
    "data",
    5,
    "ask",
    /\b(?:this|my|a|the|slow) quer(?:y|ies)\b|\baggregation\b|\bmonth over month\b|\byear over year\b|\bper (?:month|week|region|quarter)\b/i
  ),
  rule("data", 4, "text", /^[^,|;\t\n]+(?:[,|;\t][^,|;\t\n]+){1,12}\n[^,|;\t\n]+(?:[,|;\t] ?[\d.]+)/m)
]

/**
 * What a request's words say of its task. A rule looks at the ask, the part of a text where people say what they want, or at the
 * whole of it; what all rules that match weigh together decides. Written on one half of `test/router/prompts.jsonl` alone.
 */

/** What a request can be about, most specific first, so that ties go to what says more. `general` is all the rest. */
export const TASKS = [
  "vision",
  "tool_use",
  "translation",
  "summarisation",
  "extraction",
  "data",
  "math",
  "code",
  "reasoning",
  "writing",
  "question_answering",
  "general"
] as const

export type Task = (typeof TASKS)[number]

export interface TaskRule {
  readonly task: Task
  readonly weight: number
  readonly in: "ask" | "text"
  readonly says: RegExp
}

const rule = (task: Task, weight: number, within: TaskRule["in"], says: RegExp): TaskRule => ({
  task,
  weight,
  in: within,
  says
})

const LANGUAGE =
  "(?:english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|icelandic|polish|czech|slovak|hungarian|romanian|bulgarian|croatian|serbian|russian|ukrainian|greek|turkish|arabic|hebrew|persian|farsi|hindi|bengali|urdu|tamil|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|indonesian|malay|swahili|latin)"

const translation = [
  rule("translation", 8, "ask", /\btranslat(?:e|es|ed|ing|ion|ions|or)\b|\blocali[sz](?:e|ing|ation)\b/i),
  rule("translation", 7, "ask", new RegExp(`\\b(?:say|said|write|put|express)\\b.{0,120}\\bin (?:\\w+ )?${LANGUAGE}`, "i")),
  rule("translation", 7, "ask", new RegExp(`\\bhow (?:do|would|does|can|to)\\b.{0,60}${LANGUAGE}.{0,20}\\bsay\\b`, "i")),
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

const summarisation = [
  rule("summarisation", 8, "ask", /\bsummar(?:y|ies|i[sz]e[sd]?|i[sz]ing)\b|\btl;?dr\b|\bsynopsis\b|\brecap\b/i),
  rule("summarisation", 7, "ask", /\bsum (?:this|that|it|them|these|up)\b|\bcondense\b|\bdistil|\bthe gist\b|\bboil .{0,20}down\b/i),
  rule(
    "summarisation",
    7,
    "ask",
    /\b(?:key|main|central|essential|core) (?:take-?aways?|points?|messages?|ideas?|arguments?|findings|statements)\b|\btake-?aways\b/i
  ),
  rule("summarisation", 6, "ask", /\b(?:brief|short|quick|concise) (?:overview|version|outline)\b|\boverview of (?:what|this|the following)/i),
  rule("summarisation", 6, "ask", /\babstract (?:of|for) (?:the|this)\b|\bhighlights of\b|\bin (?:one|two|a|three) sentences?, what\b/i),
  rule("summarisation", 6, "ask", /\bshorten (?:this|the (?:following|text|article))\b.{0,30}\bto\b|\bin (?:short|brief|a nutshell)\b/i),
  rule("summarisation", 5, "ask", /\b(?:two|three|four|five|one)[- ](?:line|sentence|paragraph|page)s? (?:summary|version)\b/i),
  rule(
    "summarisation",
    8,
    "ask",
    /\bfass(?:e|en)?\b.{0,60}zusammen|zusammenfass|\br[ée]sume[zr]?\b (?:este|esta|el|la|los|las|ce|cet|cette|le|les|moi|o |a )|\bresum(?:en|ir|a|o)\b|résum|riassum|要約|まとめて|总结|總結|概括|摘要|归纳|краткое содерж|кратко излож|резюмируй|перескаж|요약|لخص|تلخيص|सारांश|संक्षेप|streść|streszcz|podsumuj|özetle|samenvat|vat .{0,40}samen|sammanfatta/iu
  )
]

const extraction = [
  rule("extraction", 8, "ask", /\bextract(?:ing|ion)?\b|\bnamed entit|\bsentiment\b|\bparts? of speech\b/i),
  rule("extraction", 7, "ask", /\b(?:pull|get|pick|take|fish)\b.{0,80}\b(?:out of|out from|from) (?:this|the|these|my)\b|\bpull out\b/i),
  rule("extraction", 7, "ask", /\b(?:classif(?:y|ies)|categori[sz]e|label|tag|annotate|mark up)\b (?:the|this|these|each|every|all|as|my)\b/i),
  rule("extraction", 7, "ask", /\b(?:are|is|were) (?:mentioned|named|listed) in (?:this|the|these)\b/i),
  rule("extraction", 7, "ask", /\bfind (?:all|every|each|any)\b.{0,60}\bin (?:this|the|these)\b|\bidentify (?:all|every|the)\b.{0,60}\bin\b ?(?::|"|the|this)/i),
  rule("extraction", 6, "ask", /\b(?:return|output|reply|answer|respond)\b.{0,60}\b(?:json|yes or no|only the|csv|key: value)\b|\b(?:into|to|as) (?:a |an )?(?:valid )?json\b/i),
  rule("extraction", 6, "ask", /\bparse\b.{0,40}\binto\b|\bfill (?:in |out )?(?:this|the) (?:schema|form|template)\b|\bnormali[sz]e (?:these|the|this)\b/i),
  rule("extraction", 6, "ask", /\b(?:detect|determine|decide|tell|check) (?:whether|if) (?:this|the|these)\b.{0,60}\b(?:is|are|contains?)\b|\bis this (?:message|email|e-mail|text|comment|review)\b/i),
  rule("extraction", 6, "ask", /\bassign\b.{0,40}\bto each\b|\b(?:the|what is the) (?:intent|topic|language|category|tone) of (?:this|the|each|these)\b|\bscore (?:this|the following|each)\b/i),
  rule("extraction", 6, "ask", /\blist (?:the|all|every|only|required)\b.{0,60}\b(?:from|in) (?:this|the|these)\b|\bread\b.{0,40}\band list\b/i),
  rule("extraction", 4, "ask", /\b(?:toxic|spam|hate speech|phishing)\b/i),
  rule(
    "extraction",
    8,
    "ask",
    /\bextrah|\bextrae|\bextrai|\bestrai|提取|抽取|找出|抜き出|抽出|извлек|выпиши|추출|استخرج|निकाल|\bclasifi[cq]|\bclassifi(?:que|ca|ez)|klassifizier|sentimento|sentimiento|分类|分類|классифиц|감정|wyodrębnij|wypisz|çıkar/iu
  )
]

const data = [
  rule("data", 8, "text", /\bselect\b[\s\S]{1,200}\bfrom\b[\s\S]{0,200}(?:\b(?:where|join|group by|order by|limit|having)\b|;)/i),
  rule("data", 8, "ask", /\bsql|\bpostgres|\bmysql\b|\bmongodb\b|\bbigquery\b|\bsnowflake\b|\bdbt\b|\bpandas\b|\bdata ?frames?\b/i),
  rule("data", 7, "ask", /\b(?:group by|(?:inner|left|right|outer|cross) join|window function|foreign keys?|primary key|star schema|(?:table|database) schema)\b/i),
  rule("data", 7, "ask", /\bexcel\b|\bspreadsheets?\b|\bgoogle sheets?\b|\bpivot|\bvlookup\b|\bcsv\b|エクセル|таблиц/iu),
  rule("data", 6, "ask", /\bdata ?sets?\b|\boutliers?\b|\ba\/b[- ]tests?\b|\bsample size\b|\bregression\b|\bcohort|\bretention\b|\bkpis?\b|\bconversion rate\b/i),
  rule("data", 5, "ask", /\b(?:chart|plot|histogram|dashboard|scatter|heat ?map)\b|\bcorrelation\b|\bstatistically\b|\bsignificant\b|\btables? of\b|\b(?:this|these) data\b/i),
  rule("data", 5, "ask", /\b(?:this|my|a|the|slow) quer(?:y|ies)\b|\baggregation\b|\bmonth over month\b|\byear over year\b|\bper (?:month|week|region|quarter)\b/i),
  rule("data", 4, "text", /^[^,|;\t\n]+(?:[,|;\t][^,|;\t\n]+){1,12}\n[^,|;\t\n]+(?:[,|;\t] ?[\d.]+)/m)
]

const math = [
  rule("math", 8, "ask", /\bsolve (?:for|the (?:system|equation|inequality)|this (?:system|equation))\b|\bderivatives?\b|\bintegrals?\b|\bintegrate\b|\bdifferentiate\b|\bequations?\b/i),
  rule("math", 7, "ask", /\beigenval|\bmatri(?:x|ces)\b|\bdeterminant\b|\bprobabilit(?:y|ies) (?:of|that)\b|\bpolynomial|\blogarithm|\btheorem\b|\binduction\b|\birrational\b|\bmodulo\b/i),
  rule("math", 7, "ask", /\bprime (?:number|factor)|\b(?:square|cube) root\b|\bstandard deviation\b|\bbinomial\b|\bfactorial\b|\bgeneral solution\b|\bgroup of order\b/i),
  rule("math", 6, "ask", /\b(?:prove|show) (?:that|by)\b|\blimit as\b|\bconverges?\b|\blowest terms\b|\bhow many ways\b|\bsum of (?:the )?(?:first|all|integers)\b|\bpositive integers?\b/i),
  rule("math", 6, "ask", /\b(?:area|volume|perimeter|circumference|radius|hypotenuse|diagonal) of (?:a|an|the)\b|\bpercent(?:age)? of\b|\d ?% of \d|\bby what percent/i),
  rule("math", 6, "text", /\b[a-z]\^[-({\d]|\b\d+[a-z]\b ?[-+=] ?\d|\b(?:sin|cos|tan|ln|log|sqrt)\(|\b[fgh]\([a-z0-9]\) ?=|∫|∑|√|\\frac|\\int|\d ?x ?= ?/i),
  rule("math", 6, "ask", /^(?:compute|calculate|evaluate|simplify|what(?:'s| is)|how much is|expand|factor)?:? ?\(?-?[\d(][\d.,() ]*(?:[-+*/×÷^]|times|plus|minus|divided by) ?[\d(]/i),
  rule("math", 4, "ask", /\b(?:calculate|compute|simplify|evaluate|expand|factori[sz]e)\b/i),
  rule("math", 7, "ask", /\d+(?:\.\d+)? ?(?:km|m|cm|mm|mph|kg|g|l|litres?|miles?|hours?|minutes?|dollars?|euros?|years?|%|\$)\b[\s\S]{1,200}\d?[\s\S]{0,100}\b(?:how (?:far|high|long|many|much|fast|old)|when (?:does|do|will)|by what|what (?:is|was) the)/i),
  rule("math", 6, "ask", /\bhow many\b.{0,80}\b(?:ways|combinations|permutations|arrangements)\b|\b(?:mortgage|compound interest|interest rate)\b.{0,80}\d/i),
  rule(
    "math",
    7,
    "ask",
    /gleichung|ableitung|wurzel|volumen|berechne|ecuaci[óo]n|derivada|ra[íi]z (?:cuadrada|c[úu]bica)|calcula\b|[ée]quation|dérivée|racine carrée|calcule[zr]?\b|equazione|derivata|radice|方程|导数|導数|微分|积分|積分|极值|極値|平方根|[0-9]の[0-9]+乗|計算して|производн|уравнени|интеграл|вычисли|방정식|미분|적분|معادلة|समीकरण|równanie|denklem/iu
  )
]

const code = [
  rule("code", 7, "text", /```|^\s*(?:def|class|function|fn|func|import|from|export|const|let|var|public|private|static|void|#include|package|using)\b.{0,120}[({;:=]/m),
  rule("code", 6, "text", /\b(?:TypeError|SyntaxError|ValueError|NullPointerException|ReferenceError|KeyError|[A-Z]\w+Exception|segfault|stack ?trace|exit code)\b|=>|\bfor \w+ in range\(|[\w)]\.\w+\([^)\n]*\)[;.]|\{ ?[\w-]+ ?: ?[^}\n]{1,80};? ?\}/),
  rule("code", 6, "ask", /\b(?:python|javascript|typescript|kotlin|golang|php|powershell|bash|django|flask|rails|laravel|angular|svelte|vue|node(?:\.?js)?|next\.?js|jquery|docker\w*|kubernetes|k8s|terraform|ansible|nginx|webpack|npm|pip|cargo|pytest|junit|github|gitlab|git|css|html|regex(?:es)?|regexp|graphql|webassembly|linux|cmake)\b|\bc\+\+|\bc#|\.net\b/i),
  rule("code", 6, "ask", /\b(?:React|Java|Rust|Go|Swift|Ruby|Scala|Haskell|Perl|Elixir|Spring|C) (?:code|function|method|program|class|component|app|implementation|script|service|snippet|project|generic|module|struct|macro|hook)|\b(?:in|with|using) (?:React|Java|Rust|Go|Swift|Ruby|Scala|Haskell|Perl|Elixir|C)\b|\buse(?:Memo|Effect|State|Callback|Ref)\b/),
  rule("code", 6, "ask", /\b(?:refactor|debug|recompile|compil(?:e|er|es)|segmentation fault|null pointer|unit tests?|pull request|code review|merge conflicts?|rebase|linked list|binary (?:tree|search)|hash ?map|thread[- ]safe|mutex|async|await|callback|memory leak|race condition|stack overflow|type ?hints?|endpoint|webhook|microservice)\b/i),
  rule("code", 5, "ask", /\b(?:this|the|my|following|a|an|some) (?:code|function|method|class|script|snippet|program|app|api|algorithm|loop|array|variable|component|module|library|bug|build|workflow|pipeline|migration)\b/i),
  rule("code", 4, "ask", /\b(?:implement|implementation|deploy(?:ment)?|manifest|config(?:uration)?|repository|framework|back-?end|front-?end|server|runtime|singleton|generics?|tuple|recursion|parser|cli)\b/i),
  rule("code", 3, "ask", /`[^`\n]+`/),
  rule(
    "code",
    7,
    "ask",
    /\bmethode\b|\bfunktion\b.{0,40}\b(?:schreib|in )|\bjava\b|\bprogramm(?:ier|code)|\bquellcode|\bbucle\b|\bfunci[óo]n (?:en|de|que)|\bfonction (?:qui|javascript|python|en)|\bfunzione (?:che|in|python)|代码|代碼|编程|编写.{0,10}(?:函数|程序)|爬虫|脚本|コード|実装|プログラ|スクリプト|関数を書|код на|функцию на|напиши (?:функци|код|скрипт|программ)|программ[уы] на|코드|함수를 작성|프로그램을|برنامج|कोड|função (?:que|em)/iu
  )
]

const reasoning = [
  rule("reasoning", 7, "ask", /\bpros and cons\b|\btrade-?offs?\b|\badvantages and disadvantages\b|\bdevil'?s advocate\b|\bfallac(?:y|ies)\b|\bweigh (?:up |them|the|my|these)\b/i),
  rule("reasoning", 6, "ask", /\b(?:think|reason|walk me|work) (?:it |this |that |them |carefully |me )?(?:through|carefully|step)\b|\breason(?:ing)? (?:about|carefully|step)\b|\blogic(?:al|ally)?\b|\briddle\b|\bbrain ?teaser\b|\bpuzzle\b|\bdeduce\b/i),
  rule("reasoning", 5, "ask", /\bstep[- ]by[- ]step\b|\bjustify\b|\bassumptions?\b|\bhypothes[ie]s\b|\bcounter-?argument|\bcausal\b|\bsecond-order\b|\bconsequences\b|\bimplications\b|\broot cause\b/i),
  rule("reasoning", 6, "ask", /\b(?:evaluate|assess|critique|challenge|argue against|stress-test)\b.{0,30}\b(?:plan|decision|argument|proposal|strategy|idea|claim)\b/i),
  rule("reasoning", 6, "ask", /\bshould (?:i|we|a|an|the|my|our|they)\b.{1,120}\bor\b|\bwhich (?:option|choice|one|of (?:the|these))\b.{0,40}\b(?:is|are|should|would)\b|\b(?:best|optimal) (?:order|route|sequence|strategy|allocation)\b/i),
  rule("reasoning", 6, "ask", /\b(?:if|suppose) (?:all|some|no|every)\b.{1,80}\b(?:are|is)\b.{1,80}\b(?:must|can|does|do|are|is)\b|\balways (?:lies?|tells? the truth)\b|\btells? the truth\b|\bevery label\b|\bcounterfeit\b|\bmust cross\b|\bsequence of (?:crossings|moves|steps)\b/i),
  rule("reasoning", 6, "ask", /\b(?:taller|shorter|older|younger|faster|heavier|richer) than\b.{1,160}\b(?:who|which|what)\b|\bwho (?:owns|is lying|did it|took|stole)\b/i),
  rule("reasoning", 5, "ask", /\bcompare\b.{1,120}\b(?:for|in terms of|with respect|and (?:recommend|decide))\b|\brank (?:these|the|them|my|our)\b|\brecommend one\b|\bhow would you (?:decide|choose|approach|prioriti[sz]e)\b|\bhelp me (?:decide|choose|weigh|think)\b|\boffers\b.{0,80}\bone\b/i),
  rule("reasoning", 5, "ask", /\b(?:plan|schedule|prioriti[sz]e|allocate|budget)\b.{0,80}\b(?:at most|with(?:in)? (?:at|only|a)|that covers|constraints?|hours|only)\b|\bwhat evidence would\b|\bstrategy for\b|\bmost likely\b|\brisk(?:s|ier)?\b/i),
  rule("reasoning", 4, "ask", /\banaly[sz]e\b|\bdecisions?\b|\bwhy might\b|\bwhat would (?:be|happen)\b|\bwhat if\b|\bexplain why\b|\bweighings\b/i),
  rule(
    "reasoning",
    7,
    "ask",
    /vor- und nachteile|\bwäge\b|\babwäg|schritt für schritt|ventajas y (?:desventajas|los)|pros y contras|paso a paso|\bconviene\b|étape par étape|avantages et (?:les )?inconvénients|\braisonne|dit la vérité|pro e contro|passo dopo passo|vantagens e desvantagens|passo a passo|推理|逻辑|邏輯|利弊|推論|論理|段階的|логическ|рассужд|подумай|за и против|плюсы и минусы|단계별|추론|논리|장단점|منطق|तर्क|krok po kroku|adım adım/iu
  )
]

const GENRE =
  "(?:story|stories|tale|fable|poem|poetry|haiku|limerick|sonnet|song|lyrics|e-?mail|letter|essay|blog ?post|blog|article|post|tweet|caption|press release|speech|toast|eulogy|obituary|bio|biography|tag ?lines?|slogans?|headlines?|newsletter|descriptions?|dialogue|monologue|scene|novel|chapter|screenplay|ad copy|copy|invitation|greetings?|card|message|statement|cover letter|resume|cv|names|titles?|jingle|joke book|manifesto|review|apology|diary|fairy tale)"

const writing = [
  rule("writing", 7, "ask", new RegExp(`\\b(?:write|draft|compose|create|pen|craft|come up with|generate|suggest|give me|make|help me|turn|need|invent|brainstorm)\\b.{0,80}\\b${GENRE}\\b`, "i")),
  rule("writing", 7, "ask", /\b(?:proofread|paraphrase|reword|rephrase|copy-?edit|polish|rewrite|ghost-?write)\b/i),
  rule("writing", 6, "ask", /\bimprove the (?:style|wording|flow|tone|writing)\b|\b(?:more|less|sounds?) (?:confident|formal|informal|polite|friendly|casual|professional|persuasive|natural)\b|\bpoliter\b|\bnot sound like\b/i),
  rule("writing", 6, "ask", /\b(?:wedding|birthday|retirement|farewell) (?:toast|speech|card|message)\b|\b(?:haiku|limerick|sonnet|taglines?|slogans?|lyrics|eulogy)\b|\bbedtime story\b/i),
  rule("writing", 3, "ask", /\b(?:write|draft|compose)\b/i),
  rule("writing", 3, "ask", /\b(?:humou?r|funny|warm|persuasive|in the style of|audience|tone|words on)\b/i),
  rule(
    "writing",
    7,
    "ask",
    /\bgedicht|\bgeschichte über|\bbrief an|\bschreib.{0,20}(?:brief|mail|rede|geschichte|aufsatz|artikel)|\bpoema|\bpoesia|\bcuento\b|\bredacta|\bescribe (?:un|una) (?:carta|cuento|poema|historia|correo|ensayo)|\brédige|\bécris (?:un|une|moi) (?:poème|lettre|histoire|conte|texte|mail|discours)|\blettre de|\bscrivi\b|\bracconto|\bescreva (?:um|uma) (?:carta|poema|história|conto|e-mail|texto)|写一(?:首|篇|封|个故事|段)|作文|诗|詩を|小説|手紙|メールを|文章を書|напиши (?:стих|рассказ|письм|поздрав|сочин|сказк|эссе|пост|речь)|поздравлени|стихотвор|편지|이메일을|시를 써|소설|글을 써|اكتب (?:قصة|قصيدة|رسالة|مقال)|कविता|कहानी|पत्र लिख|napisz (?:wiersz|list|opowiad)|şiir|hikaye yaz/iu
  )
]

const questionAnswering = [
  rule("question_answering", 4, "ask", /^(?:and |so |but |ok,? |hi,? |please |can you tell me |do you know |tell me |i wonder )?(?:who|what|what's|when|where|which|why|whose|how (?:tall|many|long|old|far|big|much|high|deep|fast|hot|does|did|is|are|was|were|do)|is|are|was|were|does|did|has|have)\b/i),
  rule("question_answering", 4, "ask", /^(?:please |can you |could you )?(?:explain|define|describe|tell me (?:about|what|who|why|how)|give me (?:facts|information) about)\b/i),
  rule("question_answering", 3, "ask", /\b(?:capital of|stand for|difference between|boiling point|symptoms|causes?|history of|invented|discovered|founded|published|released|born|named after|population|meaning of|in simple (?:words|terms))\b/i),
  rule(
    "question_answering",
    4,
    "ask",
    /^[¿\s]*(?:wer|was|wann|wo|warum|wieso|welche[rsnm]?|wie (?:viel|hoch|lange|alt|groß|weit|funktioniert|entsteht)|quién|quien|qué|que es|cuándo|dónde|cuál|por qué|cuánt[oa]s?|qui|quel(?:le)?s?|quand|où|pourquoi|combien|qu'est-ce|chi|che cosa|cos'è|quando|dove|perché|qual[ei]?|quanto|quem|o que|onde|por que|wie|wat|waar|wanneer|hoeveel|kto|co to|gdzie|kiedy|kim|kaç|nedir|кто|что|где|когда|почему|зачем|какой|какая|какое|сколько|من|ما|ماذا|متى|أين|لماذا|كم)(?![\p{L}])/iu
  ),
  rule("question_answering", 4, "ask", /是什么|是谁|在哪里|哪里|多少|为什么|什么时候|どこ|何(?:ですか|メートル|年|人)|いつ|誰|なぜ|ですか|とは|क्या|कौन|कब|कहाँ|क्यों|누구|언제|어디|무엇|왜|몇/u)
]

const general = [
  rule("general", 9, "ask", /^(?:hi|hey|hello|hiya|yo|thanks?|thank you|ok(?:ay)?|yes|yeah|no|nope|sure|great|cool|bye|good (?:morning|afternoon|evening|night)|continue|go on|more|never ?mind|please)(?:[ ,!.]+(?:there|please|you|so much|a lot|again|go on|continue|everyone|all))*[!.? ]*$/i),
  rule("general", 6, "ask", /^(?:hi|hey|hello|thanks|thank you|never ?mind|good (?:morning|afternoon|evening))\b/i),
  rule("general", 5, "ask", /\b(?:recommend|suggest|suggestions?|advice|tips|any ideas|gift|ideas? for|bored|joke|chat|let'?s (?:play|talk|chat)|what do you think|pretend (?:you|to)|play a game)\b/i),
  rule("general", 5, "ask", /\b(?:can|could|do) you (?:help|do|feel|like|remember|know me)\b|\bare you (?:a|an|human|real|there|ok)\b|\bhow are you\b|\bwho are you\b|\bwhat can you\b/i),
  rule("general", 5, "ask", /\bhow (?:do|can|could|should) i\b|\bwhat (?:should|can|could|do) i\b|\bi can'?t decide\b/i),
  rule("general", 4, "ask", /^i(?:'m| am| feel| had| have| just| want| think| love| hate)\b|\bmy (?:cat|dog|neighbou?r|friend|boss|kids?|child|mother|mum|mom|dad|father|wife|husband|partner|sister|brother)\b/i),
  rule(
    "general",
    6,
    "ask",
    /^(?:hallo|guten (?:tag|morgen|abend)|hola|buen[oa]s|salut|bonjour|bonsoir|ciao|buongiorno|ol[áa]|oi|hej|cze[śs][ćc]|merhaba|привет|здравствуй|你好|您好|こんにちは|おはよう|안녕|مرحبا|नमस्ते)|wie geht|qué tal|comment ça va|come stai|tudo bem|как дела|おすすめ|推荐|推薦|посоветуй|empfiehl|empfehl|recomiend|recomenda|conseil|consejo|consigli|cadeau|regalo|geschenk|추천|你是谁/iu
  )
]

/** All rules. */
export const taskRules: ReadonlyArray<TaskRule> = [
  ...translation,
  ...summarisation,
  ...extraction,
  ...data,
  ...math,
  ...code,
  ...reasoning,
  ...writing,
  ...questionAnswering,
  ...general
]

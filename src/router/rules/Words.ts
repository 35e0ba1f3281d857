/** Rules for tasks about words: writing, knowledge and conversation. */
import { rule, type TaskRule } from "../Task.ts"

const GENRE =
  "(?:story|stories|tale|fable|poem|poetry|haiku|limerick|sonnet|song|lyrics|e-?mail|letter|essay|blog ?post|blog|article|post|tweet|caption|press release|speech|toast|eulogy|obituary|bio|biography|tag ?lines?|slogans?|headlines?|newsletter|descriptions?|dialogue|monologue|scene|novel|chapter|screenplay|ad copy|copy|invitation|greetings?|card|message|statement|cover letter|resume|cv|names|titles?|jingle|joke book|manifesto|review|apology|diary|fairy tale)"

export const writing: ReadonlyArray<TaskRule> = [
  rule(
    "writing",
    7,
    "ask",
    new RegExp(
      `\\b(?:write|draft|compose|create|pen|craft|come up with|generate|suggest|give me|make|help me|turn|need|invent|brainstorm)\\b.{0,80}\\b${GENRE}\\b`,
      "i"
    )
  ),
  rule("writing", 7, "ask", /\b(?:proofread|paraphrase|reword|rephrase|copy-?edit|polish|rewrite|ghost-?write)\b/i),
  rule(
    "writing",
    6,
    "ask",
    /\bimprove the (?:style|wording|flow|tone|writing)\b|\b(?:more|less|sounds?) (?:confident|formal|informal|polite|friendly|casual|professional|persuasive|natural)\b|\bpoliter\b|\bnot sound like\b/i
  ),
  rule(
    "writing",
    6,
    "ask",
    /\b(?:wedding|birthday|retirement|farewell) (?:toast|speech|card|message)\b|\b(?:haiku|limerick|sonnet|taglines?|slogans?|lyrics|eulogy)\b|\bbedtime story\b/i
  ),
  rule("writing", 3, "ask", /\b(?:write|draft|compose)\b/i),
  rule("writing", 3, "ask", /\b(?:humou?r|funny|warm|persuasive|in the style of|audience|tone|words on)\b/i),
  rule(
    "writing",
    7,
    "ask",
    /\bgedicht|\bgeschichte über|\bbrief an|\bschreib.{0,20}(?:brief|mail|rede|geschichte|aufsatz|artikel)|\bpoema|\bpoesia|\bcuento\b|\bredacta|\bescribe (?:un|una) (?:carta|cuento|poema|historia|correo|ensayo)|\brédige|\bécris (?:un|une|moi) (?:poème|lettre|histoire|conte|texte|mail|discours)|\blettre de|\bscrivi\b|\bracconto|\bescreva (?:um|uma) (?:carta|poema|história|conto|e-mail|texto)|写一(?:首|篇|封|个故事|段)|作文|诗|詩を|小説|手紙|メールを|文章を書|напиши (?:стих|рассказ|письм|поздрав|сочин|сказк|эссе|пост|речь)|поздравлени|стихотвор|편지|이메일을|시를 써|소설|글을 써|اكتب (?:قصة|قصيدة|رسالة|مقال)|कविता|कहानी|पत्र लिख|napisz (?:wiersz|list|opowiad)|şiir|hikaye yaz/iu
  )
]

export const questionAnswering: ReadonlyArray<TaskRule> = [
  rule(
    "question_answering",
    4,
    "ask",
    /^(?:and |so |but |ok,? |hi,? |please |can you tell me |do you know |tell me |i wonder )?(?:who|what|what's|when|where|which|why|whose|how (?:tall|many|long|old|far|big|much|high|deep|fast|hot|does|did|is|are|was|were|do)|is|are|was|were|does|did|has|have)\b/i
  ),
  rule(
    "question_answering",
    4,
    "ask",
    /^(?:please |can you |could you )?(?:explain|define|describe|tell me (?:about|what|who|why|how)|give me (?:facts|information) about)\b/i
  ),
  rule(
    "question_answering",
    3,
    "ask",
    /\b(?:capital of|stand for|difference between|boiling point|symptoms|causes?|history of|invented|discovered|founded|published|released|born|named after|population|meaning of|in simple (?:words|terms))\b/i
  ),
  rule(
    "question_answering",
    4,
    "ask",
    /^[¿\s]*(?:wer|was|wann|wo|warum|wieso|welche[rsnm]?|wie (?:viel|hoch|lange|alt|groß|weit|funktioniert|entsteht)|quién|quien|qué|que es|cuándo|dónde|cuál|por qué|cuánt[oa]s?|qui|quel(?:le)?s?|quand|où|pourquoi|combien|qu'est-ce|chi|che cosa|cos'è|quando|dove|perché|qual[ei]?|quanto|quem|o que|onde|por que|wie|wat|waar|wanneer|hoeveel|kto|co to|gdzie|kiedy|kim|kaç|nedir|кто|что|где|когда|почему|зачем|какой|какая|какое|сколько|من|ما|ماذا|متى|أين|لماذا|كم)(?![\p{L}])/iu
  ),
  rule(
    "question_answering",
    4,
    "ask",
    /是什么|是谁|在哪里|哪里|多少|为什么|什么时候|どこ|何(?:ですか|メートル|年|人)|いつ|誰|なぜ|ですか|とは|क्या|कौन|कब|कहाँ|क्यों|누구|언제|어디|무엇|왜|몇/u
  )
]

export const general: ReadonlyArray<TaskRule> = [
  rule(
    "general",
    9,
    "ask",
    /^(?:hi|hey|hello|hiya|yo|thanks?|thank you|ok(?:ay)?|yes|yeah|no|nope|sure|great|cool|bye|good (?:morning|afternoon|evening|night)|continue|go on|more|never ?mind|please)(?:[ ,!.]+(?:there|please|you|so much|a lot|again|go on|continue|everyone|all))*[!.? ]*$/i
  ),
  rule("general", 6, "ask", /^(?:hi|hey|hello|thanks|thank you|never ?mind|good (?:morning|afternoon|evening))\b/i),
  rule(
    "general",
    5,
    "ask",
    /\b(?:recommend|suggest|suggestions?|advice|tips|any ideas|gift|ideas? for|bored|joke|chat|let'?s (?:play|talk|chat)|what do you think|pretend (?:you|to)|play a game)\b/i
  ),
  rule(
    "general",
    5,
    "ask",
    /\b(?:can|could|do) you (?:help|do|feel|like|remember|know me)\b|\bare you (?:a|an|human|real|there|ok)\b|\bhow are you\b|\bwho are you\b|\bwhat can you\b/i
  ),
  rule(
    "general",
    5,
    "ask",
    /\bhow (?:do|can|could|should) i\b|\bwhat (?:should|can|could|do) i\b|\bi can'?t decide\b/i
  ),
  rule(
    "general",
    4,
    "ask",
    /^i(?:'m| am| feel| had| have| just| want| think| love| hate)\b|\bmy (?:cat|dog|neighbou?r|friend|boss|kids?|child|mother|mum|mom|dad|father|wife|husband|partner|sister|brother)\b/i
  ),
  rule(
    "general",
    6,
    "ask",
    /^(?:hallo|guten (?:tag|morgen|abend)|hola|buen[oa]s|salut|bonjour|bonsoir|ciao|buongiorno|ol[áa]|oi|hej|cze[śs][ćc]|merhaba|привет|здравствуй|你好|您好|こんにちは|おはよう|안녕|مرحبا|नमस्ते)|wie geht|qué tal|comment ça va|come stai|tudo bem|как дела|おすすめ|推荐|推薦|посоветуй|empfiehl|empfehl|recomiend|recomenda|conseil|consejo|consigli|cadeau|regalo|geschenk|추천|你是谁/iu
  )
]

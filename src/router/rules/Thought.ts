/** Rules for tasks with a right or wrong answer. */
import { rule, type TaskRule } from "../Task.ts"

export const math: ReadonlyArray<TaskRule> = [
  rule(
    "math",
    8,
    "ask",
    /\bsolve (?:for|the (?:system|equation|inequality)|this (?:system|equation))\b|\bderivatives?\b|\bintegrals?\b|\bintegrate\b|\bdifferentiate\b|\bequations?\b/i
  ),
  rule(
    "math",
    7,
    "ask",
    /\beigenval|\bmatri(?:x|ces)\b|\bdeterminant\b|\bprobabilit(?:y|ies) (?:of|that)\b|\bpolynomial|\blogarithm|\btheorem\b|\binduction\b|\birrational\b|\bmodulo\b/i
  ),
  rule(
    "math",
    7,
    "ask",
    /\bprime (?:number|factor)|\b(?:square|cube) root\b|\bstandard deviation\b|\bbinomial\b|\bfactorial\b|\bgeneral solution\b|\bgroup of order\b/i
  ),
  rule(
    "math",
    6,
    "ask",
    /\b(?:prove|show) (?:that|by)\b|\blimit as\b|\bconverges?\b|\blowest terms\b|\bhow many ways\b|\bsum of (?:the )?(?:first|all|integers)\b|\bpositive integers?\b/i
  ),
  rule(
    "math",
    6,
    "ask",
    /\b(?:area|volume|perimeter|circumference|radius|hypotenuse|diagonal) of (?:a|an|the)\b|\bpercent(?:age)? of\b|\d ?% of \d|\bby what percent/i
  ),
  rule(
    "math",
    6,
    "text",
    /\b[a-z]\^[-({\d]|\b\d+[a-z]\b ?[-+=] ?\d|\b(?:sin|cos|tan|ln|log|sqrt)\(|\b[fgh]\([a-z0-9]\) ?=|∫|∑|√|\\frac|\\int|\d ?x ?= ?/i
  ),
  rule(
    "math",
    6,
    "ask",
    /^(?:compute|calculate|evaluate|simplify|what(?:'s| is)|how much is|expand|factor)?:? ?\(?-?[\d(][\d.,() ]*(?:[-+*/×÷^]|times|plus|minus|divided by) ?[\d(]/i
  ),
  rule("math", 4, "ask", /\b(?:calculate|compute|simplify|evaluate|expand|factori[sz]e)\b/i),
  rule(
    "math",
    7,
    "ask",
    /\d ?(?:km|m|cm|mm|mph|kg|g|l|litres?|miles?|hours?|minutes?|dollars?|euros?|years?|%|\$)\b[\s\S]{1,240}\b(?:how (?:far|high|long|many|much|fast|old)|when (?:does|do|will)|by what|what (?:is|was) the)/i
  ),
  rule(
    "math",
    6,
    "ask",
    /\bhow many\b.{0,80}\b(?:ways|combinations|permutations|arrangements)\b|\b(?:mortgage|compound interest|interest rate)\b.{0,80}\d/i
  ),
  rule(
    "math",
    7,
    "ask",
    /gleichung|ableitung|wurzel|volumen|berechne|ecuaci[óo]n|derivada|ra[íi]z (?:cuadrada|c[úu]bica)|calcula\b|[ée]quation|dérivée|racine carrée|calcule[zr]?\b|equazione|derivata|radice|方程|导数|導数|微分|积分|積分|极值|極値|平方根|[0-9]の[0-9]+乗|計算して|производн|уравнени|интеграл|вычисли|방정식|미분|적분|معادلة|समीकरण|równanie|denklem/iu
  )
]

export const code: ReadonlyArray<TaskRule> = [
  rule("code", 6, "text", /\b(?:int|void|char|float|double|bool) \*?\w+ ?[(=;]|\w\([^()\n]*\) ?\{/),
  rule(
    "code",
    7,
    "text",
    /```|^[ \t]*(?:def|class|function|fn|func|import|from|export|const|let|var|public|private|static|void|#include|package|using)\b.{0,120}[({;:=]/m
  ),
  rule(
    "code",
    6,
    "text",
    /\b(?:TypeError|SyntaxError|ValueError|NullPointerException|ReferenceError|KeyError|[A-Z]\w+Exception|segfault|stack ?trace|exit code)\b|=>|\bfor \w+ in range\(|[\w)]\.\w+\([^)\n]*\)[;.]|\{ ?[\w-]+ ?: ?[^}\n]{1,80};? ?\}/
  ),
  rule(
    "code",
    6,
    "ask",
    /\b(?:python|javascript|typescript|kotlin|golang|php|powershell|bash|django|flask|rails|laravel|angular|svelte|vue|node(?:\.?js)?|next\.?js|jquery|docker\w*|kubernetes|k8s|terraform|ansible|nginx|webpack|npm|pip|cargo|pytest|junit|github|gitlab|git|css|html|regex(?:es)?|regexp|graphql|webassembly|linux|cmake)\b|\bc\+\+|\bc#|\.net\b/i
  ),
  rule(
    "code",
    6,
    "ask",
    /\b(?:React|Java|Rust|Go|Swift|Ruby|Scala|Haskell|Perl|Elixir|Spring|C) (?:code|function|method|program|class|component|app|implementation|script|service|snippet|project|generic|module|struct|macro|hook)|\b(?:in|with|using) (?:React|Java|Rust|Go|Swift|Ruby|Scala|Haskell|Perl|Elixir|C)\b|\buse(?:Memo|Effect|State|Callback|Ref)\b/
  ),
  rule(
    "code",
    6,
    "ask",
    /\b(?:refactor|debug|recompile|compil(?:e|er|es)|segmentation fault|null pointer|unit tests?|pull request|code review|merge conflicts?|rebase|linked list|binary (?:tree|search)|hash ?map|thread[- ]safe|mutex|async|await|callback|memory leak|race condition|stack overflow|type ?hints?|endpoint|webhook|microservice)\b/i
  ),
  rule(
    "code",
    5,
    "ask",
    /\b(?:this|the|my|following|a|an|some) (?:code|function|method|class|script|snippet|program|app|api|algorithm|loop|array|variable|component|module|library|bug|build|workflow|pipeline|migration)\b/i
  ),
  rule(
    "code",
    4,
    "ask",
    /\b(?:implement|implementation|deploy(?:ment)?|manifest|config(?:uration)?|repository|framework|back-?end|front-?end|server|runtime|singleton|generics?|tuple|recursion|parser|cli)\b/i
  ),
  rule("code", 3, "ask", /`[^`\n]+`/),
  rule(
    "code",
    7,
    "ask",
    /\bmethode\b|\bfunktion\b.{0,40}\b(?:schreib|in )|\bjava\b|\bprogramm(?:ier|code)|\bquellcode|\bbucle\b|\bfunci[óo]n (?:en|de|que)|\bfonction (?:qui|javascript|python|en)|\bfunzione (?:che|in|python)|代码|代碼|编程|编写.{0,10}(?:函数|程序)|爬虫|脚本|コード|実装|プログラ|スクリプト|関数を書|код на|функцию на|напиши (?:функци|код|скрипт|программ)|программ[уы] на|코드|함수를 작성|프로그램을|برنامج|कोड|função (?:que|em)/iu
  )
]

export const reasoning: ReadonlyArray<TaskRule> = [
  rule(
    "reasoning",
    7,
    "ask",
    /\bpros and cons\b|\btrade-?offs?\b|\badvantages and disadvantages\b|\bdevil'?s advocate\b|\bfallac(?:y|ies)\b|\bweigh (?:up |them|the|my|these)\b/i
  ),
  rule(
    "reasoning",
    6,
    "ask",
    /\b(?:think|reason|walk me|work) (?:it |this |that |them |carefully |me )?(?:through|carefully|step)\b|\breason(?:ing)? (?:about|carefully|step)\b|\blogic(?:al|ally)?\b|\briddle\b|\bbrain ?teaser\b|\bpuzzle\b|\bdeduce\b/i
  ),
  rule(
    "reasoning",
    5,
    "ask",
    /\bstep[- ]by[- ]step\b|\bjustify\b|\bassumptions?\b|\bhypothes[ie]s\b|\bcounter-?argument|\bcausal\b|\bsecond-order\b|\bconsequences\b|\bimplications\b|\broot cause\b/i
  ),
  rule(
    "reasoning",
    6,
    "ask",
    /\b(?:evaluate|assess|critique|challenge|argue against|stress-test)\b.{0,30}\b(?:plan|decision|argument|proposal|strategy|idea|claim)\b/i
  ),
  rule(
    "reasoning",
    6,
    "ask",
    /\bshould (?:i|we|a|an|the|my|our|they)\b.{1,120}\bor\b|\bwhich (?:option|choice|one|of (?:the|these))\b.{0,40}\b(?:is|are|should|would)\b|\b(?:best|optimal) (?:order|route|sequence|strategy|allocation)\b/i
  ),
  rule(
    "reasoning",
    6,
    "ask",
    /\b(?:if|suppose) (?:all|some|no|every)\b.{1,80}\b(?:are|is)\b.{1,80}\b(?:must|can|does|do|are|is)\b|\balways (?:lies?|tells? the truth)\b|\btells? the truth\b|\bevery label\b|\bcounterfeit\b|\bmust cross\b|\bsequence of (?:crossings|moves|steps)\b/i
  ),
  rule(
    "reasoning",
    6,
    "ask",
    /\b(?:taller|shorter|older|younger|faster|heavier|richer) than\b.{1,160}\b(?:who|which|what)\b|\bwho (?:owns|is lying|did it|took|stole)\b/i
  ),
  rule(
    "reasoning",
    5,
    "ask",
    /\bcompare\b.{1,120}\b(?:for|in terms of|with respect|and (?:recommend|decide))\b|\brank (?:these|the|them|my|our)\b|\brecommend one\b|\bhow would you (?:decide|choose|approach|prioriti[sz]e)\b|\bhelp me (?:decide|choose|weigh|think)\b|\boffers\b.{0,80}\bone\b/i
  ),
  rule(
    "reasoning",
    5,
    "ask",
    /\b(?:plan|schedule|prioriti[sz]e|allocate|budget)\b.{0,80}\b(?:at most|with(?:in)? (?:at|only|a)|that covers|constraints?|hours|only)\b|\bwhat evidence would\b|\bstrategy for\b|\bmost likely\b|\brisk(?:s|ier)?\b/i
  ),
  rule(
    "reasoning",
    4,
    "ask",
    /\banaly[sz]e\b|\bdecisions?\b|\bwhy might\b|\bwhat would (?:be|happen)\b|\bwhat if\b|\bexplain why\b|\bweighings\b/i
  ),
  rule(
    "reasoning",
    7,
    "ask",
    /vor- und nachteile|\bwäge\b|\babwäg|schritt für schritt|ventajas y (?:desventajas|los)|pros y contras|paso a paso|\bconviene\b|étape par étape|avantages et (?:les )?inconvénients|\braisonne|dit la vérité|pro e contro|passo dopo passo|vantagens e desvantagens|passo a passo|推理|逻辑|邏輯|利弊|推論|論理|段階的|логическ|рассужд|подумай|за и против|плюсы и минусы|단계별|추론|논리|장단점|منطق|तर्क|krok po kroku|adım adım/iu
  )
]

/**
 * A synthetic voice. Each letter has a sound: voiced ones are a buzz through three resonators at the formants of a vocal tract, the
 * others are noise, and everything between words is a pause. It does not sound human, but the rhythm of the words is audible. The same
 * text always gives the same samples.
 */
import type { SpeakWork } from "../Work.ts"

export const SAMPLE_RATE = 24_000

/** The maximum length of speech, in seconds. A longer text is spoken faster. */
const MAX_SECONDS = 1_200

/** Samples per piece: enough to be worth a call, few enough not to delay other work. */
const PIECE_SAMPLES = SAMPLE_RATE / 2
/** The longest sound, at the lowest speed, takes less than two pieces. */
const ROOM = PIECE_SAMPLES * 3

/** The pitch in hertz, and how much shorter than a man's the vocal tract is. */
const voices: Readonly<Record<string, readonly [pitch: number, scale: number]>> = {
  alloy: [150, 1.02],
  ash: [112, 0.98],
  coral: [205, 1.12],
  echo: [120, 1],
  fable: [170, 1.06],
  onyx: [88, 0.93],
  nova: [218, 1.15],
  sage: [188, 1.09],
  shimmer: [235, 1.18]
}

/** A sound: formants in hertz, the proportions of buzz and noise, and its length at speed 1 in milliseconds. */
interface Sound {
  readonly formants: readonly [number, number, number]
  readonly buzz: number
  readonly noise: number
  readonly ms: number
  /** The silent fraction at its start. */
  readonly closed: number
  /** A factor for the voice's pitch. */
  readonly pitch: number
}

const sound = (formants: Sound["formants"], buzz: number, noise: number, ms: number, closed = 0, pitch = 1): Sound => ({
  formants,
  buzz,
  noise,
  ms,
  closed,
  pitch
})

const vowels = {
  a: sound([730, 1090, 2440], 1, 0, 80),
  e: sound([530, 1840, 2480], 1, 0, 80),
  i: sound([270, 2290, 3010], 1, 0, 80),
  o: sound([570, 840, 2410], 1, 0, 80),
  u: sound([300, 870, 2240], 1, 0, 80)
}

const voiced = (formants: Sound["formants"], noise = 0) => sound(formants, 0.6, noise, 65)
const hissed = (formants: Sound["formants"]) => sound(formants, 0, 0.5, 75)
const struck = (formants: Sound["formants"], buzz: number) => sound(formants, buzz, 0.6, 60, 0.55)

const letters: Readonly<Record<string, Sound>> = {
  ...vowels,
  y: vowels.i,
  m: voiced([250, 1100, 2100]),
  n: voiced([250, 1600, 2600]),
  l: voiced([360, 1300, 2700]),
  r: voiced([420, 1300, 1600]),
  w: voiced([300, 610, 2200]),
  j: voiced([280, 2200, 2900]),
  v: voiced([250, 1100, 2300], 0.2),
  z: voiced([250, 1700, 4500], 0.3),
  s: hissed([3800, 5200, 6900]),
  x: hissed([3200, 4800, 6400]),
  f: hissed([1400, 4200, 7800]),
  h: hissed([700, 1500, 2500]),
  c: hissed([2300, 3600, 4900]),
  p: struck([400, 1100, 2200], 0),
  t: struck([400, 3400, 4800], 0),
  k: struck([500, 1900, 2600], 0),
  q: struck([450, 1500, 2400], 0),
  b: struck([250, 1000, 2200], 0.5),
  d: struck([250, 1800, 2700], 0.5),
  g: struck([250, 2000, 2500], 0.5)
}

const anyVowels = Object.values(vowels)

const pause = (ms: number): Sound => sound([500, 1500, 2500], 0, 0, ms)

const WORD = pause(45)
const PHRASE = pause(110)
const SENTENCE = pause(170)

const isPause = ({ buzz, noise }: Sound): boolean => buzz === 0 && noise === 0

/** A letter of another script maps to a vowel, always the same one. A digit is a vowel with a pitch of its own. */
const soundOf = (character: string): Sound | undefined => {
  const known = letters[character]
  if (known !== undefined) return known
  const code = character.codePointAt(0) ?? 0
  if (/\p{N}/u.test(character)) return { ...vowels.o, pitch: 0.8 + (code % 10) * 0.07 }
  if (/\p{L}/u.test(character)) return anyVowels[code % anyVowels.length]
  if (/\p{M}/u.test(character)) return undefined
  if (/[.!?。！？\n]/.test(character)) return SENTENCE
  return /\s/.test(character) ? WORD : PHRASE
}

/** The sounds of a text. Consecutive pauses become one, the longest of them, and a text of pauses only becomes one short hum. */
const soundsOf = (text: string): ReadonlyArray<Sound> => {
  const sounds: Array<Sound> = []
  for (const character of text.normalize("NFKD").toLowerCase()) {
    const next = soundOf(character)
    const last = sounds.at(-1)
    if (next === undefined) continue
    if (last !== undefined && isPause(last) && isPause(next))
      sounds[sounds.length - 1] = last.ms < next.ms ? next : last
    else sounds.push(next)
  }
  return sounds.every(isPause) ? [letters["m"] ?? WORD, ...sounds] : sounds
}

/** One formant: a two-pole resonator. */
class Resonator {
  #a = 0
  #b = 0
  #c = 0
  #last = 0
  #before = 0

  tune(hertz: number, width: number): void {
    const radius = Math.exp((-Math.PI * width) / SAMPLE_RATE)
    this.#c = -radius * radius
    this.#b = 2 * radius * Math.cos((2 * Math.PI * Math.min(hertz, SAMPLE_RATE * 0.45)) / SAMPLE_RATE)
    this.#a = 1 - this.#b - this.#c
  }

  next(input: number): number {
    const output = this.#a * input + this.#b * this.#last + this.#c * this.#before
    this.#before = this.#last
    this.#last = output
    return output
  }
}

const WIDTHS = [80, 110, 160] as const
/** How often the vocal tract moves, in samples, and how far towards its target. */
const STEP = 48
const GLIDE = 0.25

/** The vocal tract and its source. */
class Tract {
  readonly #resonators = [new Resonator(), new Resonator(), new Resonator()] as const
  readonly #at: [number, number, number] = [500, 1500, 2500]
  readonly #pitch: number
  readonly #scale: number
  #phase = 0
  #buzz = 0
  #noise = 0
  #seed = 1
  #samples = 0

  constructor([pitch, scale]: readonly [number, number]) {
    this.#pitch = pitch
    this.#scale = scale
  }

  /** Writes one sound into a buffer. */
  speak(into: Int16Array, { buzz, closed, formants, noise, pitch }: Sound): void {
    const opensAt = Math.floor(into.length * closed)
    for (let index = 0; index < into.length; index++) {
      const open = index >= opensAt
      if (index % STEP === 0) this.#move(formants)
      this.#buzz += ((open ? buzz : 0) - this.#buzz) * 0.01
      this.#noise += ((open ? noise : 0) - this.#noise) * 0.01
      into[index] = Math.round(Math.tanh(this.#through(this.#source(pitch))) * 24_000)
    }
  }

  #move(formants: Sound["formants"]): void {
    for (let index = 0; index < 3; index++) {
      const now = this.#at[index] ?? 0
      this.#at[index] = now + ((formants[index] ?? now) * this.#scale - now) * GLIDE
      this.#resonators[index]?.tune(this.#at[index] ?? now, WIDTHS[index] ?? 100)
    }
  }

  /** The source signal: pulses of air with a slow vibrato, and breath. */
  #source(pitch: number): number {
    this.#samples += 1
    const vibrato = 1 + 0.02 * Math.sin((2 * Math.PI * 5 * this.#samples) / SAMPLE_RATE)
    this.#phase = (this.#phase + (this.#pitch * pitch * vibrato) / SAMPLE_RATE) % 1
    const puff = this.#phase < 0.5 ? Math.sin(2 * Math.PI * this.#phase) : -0.3
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    const breath = this.#seed / 2 ** 31 - 1
    return puff * this.#buzz * 0.35 + breath * this.#noise * 0.35
  }

  #through(input: number): number {
    const [first, second, third] = this.#resonators
    return third.next(second.next(first.next(input)))
  }
}

/** Generates the samples of a text, mono at 24 kHz, on demand in pieces of half a second or a little more. */
export function* speech({ input, speed, voice }: Pick<SpeakWork, "input" | "speed" | "voice">): Generator<Int16Array> {
  const sounds = soundsOf(input)
  const seconds = sounds.reduce((sum, { ms }) => sum + ms, 0) / 1_000
  const stretch = Math.min(1 / speed, MAX_SECONDS / seconds)
  const tract = new Tract(voices[voice] ?? [150, 1])
  let piece = new Int16Array(ROOM)
  let length = 0
  for (const next of sounds) {
    const samples = Math.max(1, Math.round((next.ms / 1_000) * stretch * SAMPLE_RATE))
    tract.speak(piece.subarray(length, length + samples), next)
    length += samples
    if (length < PIECE_SAMPLES) continue
    yield piece.subarray(0, length)
    piece = new Int16Array(ROOM)
    length = 0
  }
  if (length > 0) yield piece.subarray(0, length)
}

// A respondent's answers, randomised here before anything is sent. Each function is the law of the
// same name in unspoken.methods.distortion, word for word of randomness: tests compare them.

const two = (exponent) => 2 ** exponent;

// numerics.random.shares: a number between 0 and 1 from 64 random bits; neither end can be hit.
export const share = (word) => Number(word >> 12n) * two(-52) + two(-53);

// ColumnResponse.answer: the place of what is said, from the place of what is true.
export function respond(law, place, word) {
  const drawn = share(word);
  let step = 0;
  let said = 0;
  for (let column = 0; column < law.values.length - 1; column += 1) {
    step += law.matrix[place][column];
    if (drawn > step) said += 1;
  }
  return said;
}

// numpy.rint: halves go to the even number.
export function rint(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

// noise_laws.NoiseLaw.drawn: a sign, and 127 bits for the size.
export function laplace(high, low) {
  const sign = high >> 63n ? -1 : 1;
  const part = Number(high & ((1n << 63n) - 1n)) * two(-63) + (Number(low) + 1) * two(-127);
  return sign * -Math.log(Math.min(part, 1));
}

// ColumnNoise.add: the value is kept inside its range, and both are rounded to the grid.
export function noisy(law, value, high, low) {
  const inside = Math.min(Math.max(value, law.low), law.high);
  return (rint(inside / law.grid) + rint((law.scale * laplace(high, low)) / law.grid)) * law.grid;
}

const WHOLE = (1n << 64n) - 1n;

// local_frequencies._hashed: one of `size` values, by the function's number and the digest.
export function hashed(number, digest, size) {
  let mixed = number ^ digest;
  for (const [shift, factor] of [[30n, 0xBF58476D1CE4E5B9n], [27n, 0x94D049BB133111EBn],
    [31n, 1n]]) mixed = ((mixed ^ (mixed >> shift)) * factor) & WHOLE;
  return Number((mixed >> 11n) % BigInt(size));
}

// LocalHashing.report: which function, and its value, or with a stated chance another one.
export function report(law, place, words) {
  const number = words[0] >> 2n;
  const own = hashed(number, BigInt(`0x${law.digests[place]}`), law.range);
  const other = (own + 1 + Number(words[2] % BigInt(law.range - 1))) % law.range;
  return [String(number), String(share(words[1]) < law.true ? own : other)];
}

export const words = (count) => crypto.getRandomValues(new BigUint64Array(count));

// 64 random bits whose remainder by `size` is equally often any; others are drawn again.
export function fair(size) {
  const most = ((1n << 64n) / BigInt(size)) * BigInt(size);
  for (;;) {
    const [word] = words(1);
    if (word < most) return word;
  }
}

const drawFor = (law) => (law.way === 'hashing'
  ? [...words(2), fair(law.range - 1)] : [...words(2)]);

// Where a browser forbids storage, what was drawn lasts as long as the page.
const memory = new Map();
function recall(name) {
  let kept = null;
  try { kept = localStorage.getItem(name); } catch { /* Memory may have it. */ }
  return kept ?? memory.get(name) ?? null;
}
function keep(name, text) {
  memory.set(name, text);
  try { localStorage.setItem(name, text); } catch { /* Memory has it. */ }
}
function forget(name) {
  memory.delete(name);
  try { localStorage.removeItem(name); } catch { /* Nothing is there. */ }
}

const hex = (word) => word.toString(16).padStart(16, '0');

// Drawn once for a survey, and kept until it is answered: whoever could draw again by loading the
// page until they like it would undo the law. `once` tells an answer that arrives twice.
function drawnOnce(laws, place) {
  try {
    const kept = JSON.parse(recall(place));
    const rows = kept.rows.map((row) => row.map(BigInt));
    if (rows.length === laws.length && kept.once) return { rows, once: kept.once };
  } catch { /* Nothing is kept, or it is damaged. */ }
  const drawn = { rows: laws.map(drawFor), once: [...words(2)].map(hex).join('') };
  keep(place, JSON.stringify({ rows: drawn.rows.map((row) => row.map(String)), once: drawn.once }));
  return drawn;
}

export function answer(law, truth, drawn) {
  if (law.way === 'response') return respond(law, truth, drawn[0]);
  if (law.way === 'hashing') return report(law, truth, drawn);
  return noisy(law, truth, drawn[0], drawn[1]);
}

const inWords = (law, sent) => {
  if (law.way === 'response') return law.values[sent];
  return law.way === 'hashing' ? `function ${sent[0]}, value ${sent[1]}` : String(sent);
};

function connect(form) {
  const laws = JSON.parse(form.dataset.laws);
  const kept = `unspoken-survey-${form.dataset.name}`;
  const shown = document.getElementById('sent');
  const said = document.getElementById('said');
  const button = form.querySelector('button');
  let ready = null;

  const frozen = (is) => {
    form.querySelectorAll('input, select, button').forEach((one) => { one.disabled = is; });
  };
  const done = (text) => { frozen(true); said.textContent = text; };
  if (recall(kept)) {
    done('You have answered this survey on this device. Answering again would tell more.');
    return;
  }
  const drawn = drawnOnce(laws, `${kept}-drawn`);
  form.addEventListener('input', () => {
    const fields = new FormData(form);
    const truths = laws.map((_, place) => fields.get(`q${place}`));
    ready = truths.every((one) => one !== null && one !== '') && form.checkValidity()
      ? laws.map((law, place) => answer(law, Number(truths[place]), drawn.rows[place])) : null;
    button.disabled = ready === null;
    const lines = ready?.map((one, place) => {
      const line = document.createElement('div');
      line.textContent = `${laws[place].text} ${inWords(laws[place], one)}`;
      return line;
    });
    shown.replaceChildren(...(lines ?? ['Choose your answers first.']));
  });
  const sent = async () => {
    const reply = await fetch(form.dataset.place, {
      method: 'POST', body: JSON.stringify(ready), headers: { 'X-Answer-Once': drawn.once },
    });
    if (!reply.ok && reply.status !== 409) { said.textContent = await reply.text(); return; }
    keep(kept, 'answered');
    // With what was sent it would tell the truth to whoever uses this device next.
    forget(`${kept}-drawn`);
    form.reset();
    done(reply.ok ? 'Thank you. Only what is shown above was sent.' : await reply.text());
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (ready === null || button.disabled) return;
    frozen(true); // What is shown is what is sent, once.
    said.textContent = 'Sending …';
    try {
      await sent();
    } catch {
      said.textContent = 'The server was not reached. Send it again: an answer that has arrived '
        + 'counts once.';
    }
    if (!recall(kept)) frozen(false);
  });
}

const form = document.getElementById('survey');
if (form) connect(form);

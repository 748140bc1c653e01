// Small helpers: everything that is shown comes from the server, escaped there.
const csrf = document.querySelector('meta[name=csrf]')?.content ?? '';

export async function post(place, body, signal) {
  const answer = await fetch(place, {
    method: 'POST', body, signal, headers: { 'X-CSRF-Token': csrf },
  });
  return { ok: answer.ok, text: await answer.text(), place: answer.headers.get('location') };
}

function show(target, text) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  target.replaceChildren(...page.body.childNodes);
  connect(target);
}

// A slider and the number beside it are one field; the number is what is sent.
function pairs(root) {
  for (const pair of root.querySelectorAll('.pair')) {
    const [slider, number] = pair.querySelectorAll('input');
    slider.addEventListener('input', () => { number.value = slider.value; });
    number.addEventListener('input', () => { slider.value = number.value; });
  }
}

// A form that shows its result while one drags: only the newest request counts.
function live(form) {
  const quick = document.getElementById(form.dataset.live);
  let asked = null;
  let waiting = 0;
  const ask = async (more) => {
    asked?.abort();
    asked = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    if (more) fields.set('more', more);
    quick.classList.add('busy');
    try {
      const began = performance.now();
      const answer = await post(form.action, fields, asked.signal);
      show(quick, answer.text);
      quick.dataset.ms = String(Math.round(performance.now() - began));
      quick.classList.remove('busy');
      if (!more && answer.ok) waiting = setTimeout(() => ask('attack'), 700);
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(''), 30);
  });
  form.addEventListener('submit', (event) => {
    if (event.submitter?.formAction && event.submitter.hasAttribute('formaction')) return;
    event.preventDefault();
    ask('');
  });
  ask('');
}

// The progress of long work, asked for until it ends.
async function follow(box) {
  const bar = box.querySelector('progress');
  const words = box.querySelector('[role=status]');
  const cancel = box.querySelector('button');
  cancel?.addEventListener('click', () => post(`/jobs/${box.dataset.job}/cancel`, ''));
  for (;;) {
    const answer = await fetch(`/jobs/${box.dataset.job}`);
    if (!answer.ok) { words.textContent = 'It ended.'; return; }
    const job = await answer.json();
    bar.value = job.done;
    if (job.state === 'done') {
      if (box.hasAttribute('data-part')) {
        const part = await fetch(box.dataset.then);
        show(box.parentElement, await part.text());
      } else location.href = box.dataset.then;
      return;
    }
    if (job.state !== 'running') {
      words.textContent = job.state === 'cancelled' ? 'Cancelled.' : job.error;
      words.classList.toggle('error', job.state === 'failed');
      cancel?.remove();
      return;
    }
    const left = job.left === null ? '' : ` About ${Math.max(1, Math.round(job.left))} s left.`;
    const text = `${job.step || 'Working.'} ${Math.round(job.done * 100)}%.${left}`;
    if (words.textContent !== text) words.textContent = text;
    await new Promise((go) => { setTimeout(go, 300); });
  }
}

// A file goes as it is, without a form around it.
function upload(zone) {
  const input = zone.querySelector('input[type=file]');
  const words = zone.querySelector('[role=status]');
  const send = async (file) => {
    words.textContent = `Sending ${file.name} …`;
    const place = `${zone.dataset.upload}?name=${encodeURIComponent(file.name)}`;
    const answer = await post(place, file);
    if (answer.ok) location.href = answer.text;
    else words.textContent = answer.text;
  };
  const chosen = () => { if (input.files[0]) send(input.files[0]); };
  input.addEventListener('change', chosen);
  chosen(); // Chosen before this script was there.
  for (const kind of ['dragover', 'dragleave', 'drop']) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.toggle('over', kind === 'dragover');
      if (kind === 'drop' && event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
    });
  }
}

// A part of a page that is asked for again now and then.
async function refresh(part) {
  for (;;) {
    await new Promise((go) => { setTimeout(go, Number(part.dataset.every)); });
    if (document.hidden) continue;
    const answer = await fetch(part.dataset.refresh);
    if (!answer.ok) return;
    const text = await answer.text();
    if (text !== part.dataset.text) show(part, text);
    part.dataset.text = text;
  }
}

export function connect(root) {
  pairs(root);
  root.querySelectorAll('form[data-live]').forEach(live);
  root.querySelectorAll('[data-job]').forEach(follow);
  root.querySelectorAll('[data-upload]').forEach(upload);
  root.querySelectorAll('[data-refresh]').forEach(refresh);
  root.querySelectorAll('select[data-go]').forEach((one) => {
    one.addEventListener('change', () => one.form.requestSubmit());
  });
  root.querySelectorAll('[data-copy]').forEach((one) => {
    one.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(one.dataset.copy).textContent);
      one.textContent = 'Copied';
    });
  });
}

connect(document);

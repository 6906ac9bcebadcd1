// Drags, wheel and pinches on a canvas.

const WHEEL_ZOOM = 0.0015; // of the logarithm, per pixel of wheel

/** Calls `onDrag(dx, dy)` and `onZoom(factor, point)`, in CSS pixels of the canvas. */
function listen(canvas, { onDrag, onZoom }) {
  const pointers = new Map();
  const place = (event) => ({ x: event.offsetX, y: event.offsetY });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const [now, others] = [place(event), [...pointers.values()].filter((p) => p !== before)];
    pointers.set(event.pointerId, now);
    if (others.length === 0) onDrag(now.x - before.x, now.y - before.y);
    else onZoom(distance(now, others[0]) / Math.max(distance(before, others[0]), 1), others[0]);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode ? event.deltaY * 16 : event.deltaY;
    onZoom(Math.exp(-pixels * WHEEL_ZOOM), place(event));
  }, { passive: false });
}

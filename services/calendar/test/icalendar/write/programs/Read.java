import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.chrono.ChronoZonedDateTime;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.fortuna.ical4j.data.CalendarBuilder;
import net.fortuna.ical4j.model.Calendar;
import net.fortuna.ical4j.model.Period;
import net.fortuna.ical4j.model.component.VEvent;
import net.fortuna.ical4j.validate.ValidationResult;

/** Reads calendar objects with ical4j, and prints what is wrong. Standard input as of read.py. */
public class Read {
  static long seconds(Temporal value) {
    if (value instanceof LocalDate day) return day.atStartOfDay(ZoneOffset.UTC).toEpochSecond();
    if (value instanceof LocalDateTime time) return time.toEpochSecond(ZoneOffset.UTC);
    if (value instanceof java.time.OffsetDateTime time) return time.toEpochSecond();
    if (value instanceof ChronoZonedDateTime<?> time) return time.toEpochSecond();
    return Instant.from(value).getEpochSecond();
  }

  static Period<? extends Temporal> window(Temporal start) {
    if (start instanceof LocalDate) return new Period<>(LocalDate.of(2026, 1, 1), LocalDate.of(2030, 1, 1));
    ZonedDateTime from = ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);
    if (start instanceof ZonedDateTime zoned) {
      return new Period<>(from.withZoneSameInstant(zoned.getZone()), from.plusYears(4).withZoneSameInstant(zoned.getZone()));
    }
    return new Period<>(from.toOffsetDateTime(), from.plusYears(4).toOffsetDateTime());
  }

  static String read(JsonNode vector) throws Exception {
    Calendar calendar = new CalendarBuilder().build(new StringReader(vector.get("calendar").asText()));
    ValidationResult result = calendar.validate();
    if (result.hasErrors()) return "errors " + result.getEntries();
    List<VEvent> events = calendar.getComponents("VEVENT");
    VEvent series = events.get(0);
    if (!series.getSummary().getValue().equals(vector.get("summary").asText())) return "summary " + series.getSummary();
    if (vector.get("dates").isEmpty()) return null;
    Map<Long, Long> found = new TreeMap<>();
    for (Period<?> date : series.calculateRecurrenceSet(window(series.getDateTimeStart().getDate()))) {
      found.put(seconds(date.getStart()), seconds(date.getEnd()));
    }
    Map<Long, Long> moved = new TreeMap<>();
    for (VEvent event : events.subList(1, events.size())) {
      found.remove(seconds(event.getRecurrenceId().getDate()));
      moved.put(seconds(event.getDateTimeStart().getDate()), seconds(event.getDateTimeEnd().getDate()));
    }
    found.putAll(moved);
    Map<Long, Long> expected = new TreeMap<>();
    for (JsonNode date : vector.get("dates")) expected.put(date.get(0).asLong(), date.get(1).asLong());
    if (found.equals(expected)) return null;
    List<String> more = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    found.forEach((start, end) -> {
      if (!end.equals(expected.get(start))) more.add(Instant.ofEpochSecond(start) + "+" + (end - start));
    });
    expected.forEach((start, end) -> {
      if (!end.equals(found.get(start))) missing.add(Instant.ofEpochSecond(start) + "+" + (end - start));
    });
    return more.size() + " more " + more.subList(0, Math.min(3, more.size())) + ", " + missing.size() + " missing "
        + missing.subList(0, Math.min(3, missing.size())) + ", of " + expected.size();
  }

  public static void main(String[] arguments) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var mapper = new ObjectMapper();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode vector = mapper.readTree(line);
      String wrong;
      try {
        wrong = read(vector);
      } catch (Exception error) {
        wrong = error.toString();
      }
      if (wrong != null) System.out.println(vector.get("name").asText() + ": " + wrong);
    }
  }
}

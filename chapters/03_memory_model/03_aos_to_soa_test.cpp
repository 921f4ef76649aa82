// Tests of 03/03 AoS to SoA.
#include "03_aos_to_soa.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double, n elements, and what the rounding errors are proportional to.
struct Moved {
  std::vector<double> result, scale;
};
Moved move_on_cpu(const std::vector<float>& position, const std::vector<float>& velocity,
                  float dt) {
  Moved moved;
  for (size_t i = 0; i < position.size(); ++i) {
    const double way = static_cast<double>(dt) * velocity[i];
    moved.result.push_back(position[i] + way);
    moved.scale.push_back(std::fabs(position[i]) + std::fabs(way));
  }
  return moved;
}

struct Axis {
  std::vector<float> position, velocity;
  kit::DeviceBuffer<float> d_position, d_velocity;
  Axis(int n, const char* name, const char* velocity_name, kit::Placement placement)
      : position(kit::random_floats(n)),
        velocity(kit::random_floats(n, -3.0f, 3.0f)),
        d_position(kit::DeviceBuffer<float>::inout(position, name, placement)),
        d_velocity(kit::DeviceBuffer<float>::input(velocity, velocity_name, placement)) {}

  // One rounding if multiplication and addition are fused, two if not.
  void expect_moved(float dt) const {
    const Moved moved = move_on_cpu(position, velocity, dt);
    kit::expect_near(d_position, moved.result, kit::Tolerance::units(2, moved.scale));
  }
};

kit::Run check_step(int n, float dt, kit::Placement placement) {
  const Axis x(n, "x", "vx", placement), y(n, "y", "vy", placement), z(n, "z", "vz", placement);
  const ParticleArrays arrays = {x.d_position.get(), y.d_position.get(), z.d_position.get(),
                                 x.d_velocity.get(), y.d_velocity.get(), z.d_velocity.get()};
  const kit::Run run = kit::run([&] { launch_advance_arrays(arrays, dt, n); });
  for (const Axis* axis : {&x, &y, &z}) axis->expect_moved(dt);
  return run;
}

kit::Run check(int n, kit::Placement placement = kit::Placement::kMiddle) {
  return check_step(n, kit::random_floats(1, 0.2f, 0.9f)[0], placement);
}

std::vector<Particle> random_particles(int n) {
  std::vector<Particle> particles(n);
  const std::vector<float> fields = kit::random_floats(16'411);  // no multiple of a particle's 16
  size_t next = 0;
  for (Particle& p : particles) {
    float f[16];
    for (float& field : f) field = fields[next++ % fields.size()];
    p = {f[0], f[1], f[2],  f[3],  f[4],  f[5],  f[6],  f[7],
         f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15]};
  }
  return particles;
}

}  // namespace

TEST(AosToSoa, SplitsStructuresIntoArrays) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1, 3, 100, 1'100'000, 0}, [](int n) {
    const std::vector<Particle> all = random_particles(n + 1);  // the last is somebody else's
    const std::vector<Particle> particles(all.begin(), all.end() - 1);
    const float untouched = -77.0f;
    std::vector<float> x(n + 1, untouched), y = x, z = x, vx = x, vy = x, vz = x;
    to_arrays(all.data(), n, {x.data(), y.data(), z.data(), vx.data(), vy.data(), vz.data()});
    if (n > 0 && x == std::vector<float>(n + 1, untouched)) {
      kit::fail("to_arrays copied nothing into x: it holds what it held before the call.");
    }
    const auto expect_field = [&](const char* name, const std::vector<float>& got,
                                  float Particle::*field) {
      std::vector<float> expected;
      for (const Particle& p : particles) expected.push_back(p.*field);
      expected.push_back(untouched);  // element n belongs to somebody else
      kit::expect_equal(name, got, expected);
    };
    expect_field("x", x, &Particle::x);
    expect_field("y", y, &Particle::y);
    expect_field("z", z, &Particle::z);
    expect_field("vx", vx, &Particle::vx);
    expect_field("vy", vy, &Particle::vy);
    expect_field("vz", vz, &Particle::vz);
  });
}

TEST(AosToSoa, MovesWholeGroupsOfFour) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{4, 1024, 4096}, [](int n) { check(n); });
}

TEST(AosToSoa, MovesTheTail) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1, 2, 3, 1021, 1022, 1023}, [](int n) { check(n); });
}

TEST(AosToSoa, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n); });
}

TEST(AosToSoa, StaysInsideItsArrays) {
  RecordProperty("todo", 2);
  // Multiples of four: others would move the start off the 16 bytes that are promised.
  kit::for_each("n", std::vector<int>{1020, 4, 1024},
                [](int n) { check(n, kit::Placement::kAtEnd); });
}

TEST(AosToSoa, AcceptsNoParticles) {
  RecordProperty("todo", 2);
  check(0);
  check(1);  // the same launcher must work when there is something to move
}

TEST(AosToSoa, TimeMayRunBackwards) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1024, 1021},
                [](int n) { check_step(n, -0.375f, kit::Placement::kMiddle); });
}

TEST(AosToSoa, MultipliesByNoTime) {
  RecordProperty("todo", 2);
  const int n = 133;
  const std::vector<float> position = kit::random_floats(n), velocity = kit::special_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::inout(position, "x");
  const auto d_y = kit::DeviceBuffer<float>::inout(position, "y");
  const auto d_z = kit::DeviceBuffer<float>::inout(position, "z");
  const auto d_v = kit::DeviceBuffer<float>::input(velocity, "vx, vy and vz");
  const ParticleArrays arrays = {d_x.get(), d_y.get(), d_z.get(), d_v.get(), d_v.get(), d_v.get()};
  kit::run([&] { launch_advance_arrays(arrays, 0.0f, n); });
  kit::expect_nans("x", d_x.download(), move_on_cpu(position, velocity, 0.0f).result);
}

TEST(AosToSoa, AdvancesManyParticles) {
  RecordProperty("todo", 2);
  kit::at_largest(1 << 30, [](int n) {
    const std::vector<float> values = kit::random_integer_floats(kit::kPeriod);
    const auto x = kit::LargeArray<float>::inout(n, "x", values);
    const auto y = kit::LargeArray<float>::inout(n, "y", values);
    const auto z = kit::LargeArray<float>::inout(n, "z", values);
    const auto vx = kit::large_integers(n, "vx"), vy = kit::large_integers(n, "vy");
    const auto vz = kit::large_integers(n, "vz");
    const float dt = 2;
    kit::run([&] {
      launch_advance_arrays({x.get(), y.get(), z.get(), vx.get(), vy.get(), vz.get()}, dt, n);
    });
    kit::expect_at_ends(x, [&](size_t i) { return x.at(i) + dt * vx.at(i); });
    kit::expect_at_ends(y, [&](size_t i) { return y.at(i) + dt * vy.at(i); });
    kit::expect_at_ends(z, [&](size_t i) { return z.at(i) + dt * vz.at(i); });
  });
}

TEST(AosToSoa, MovesOnlyWhatItUses) {
  RecordProperty("todo", 2);
  const kit::Run run = check(1 << 14);
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "Neighbouring threads must use neighbouring elements of one array",
              &kit::Counters::global_load_sectors);
}

TEST(AosToSoa, IsFast) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 16, 1 << 25);
  kit::Speed speed;
  const float dt = 0.375f;
  const auto x = speed.inout<float>(n, "x"), y = speed.inout<float>(n, "y"),
             z = speed.inout<float>(n, "z");
  const auto vx = speed.input<float>(n, "vx"), vy = speed.input<float>(n, "vy"),
             vz = speed.input<float>(n, "vz");
  const auto structures = speed.inout<float>(16 * static_cast<size_t>(n), "particles");
  speed.bytes(36.0 * n).flops(6.0 * n).slice(33);
  speed.launch([&] {
    launch_advance_arrays({x.get(), y.get(), z.get(), vx.get(), vy.get(), vz.get()}, dt, n);
  });
  const auto expect_axis = [&](const kit::SpeedBuffer<float>& p, const kit::SpeedBuffer<float>& v) {
    speed.expect(
        p,
        [&p, &v, dt](size_t i) {
          const double way = static_cast<double>(dt) * v.at(i);
          return kit::Expected(p.before(i) + way, std::fabs(p.before(i)) + std::fabs(way));
        },
        kit::Tolerance::units(2));
  };
  expect_axis(x, vx), expect_axis(y, vy), expect_axis(z, vz);
  speed.against(kit::copy_rate(), kit::Bars(0.60, 0.85, 0.95));
  speed.against(
      kit::stage(
          "array of structures",
          [&] { launch_advance_structures(reinterpret_cast<Particle*>(structures.get()), dt, n); }),
      kit::Bars(2));
  speed.grade();
}
